// What a training run would need: the answer to --dry-run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace graphpae::run {

struct TrainingEstimate {
  int64_t parameters = 0;
  int64_t bytes = 0;             // of this process at the peak
  double seconds_per_epoch = 0;  // measured; 0: a step does not fit into memory and was not tried
  int64_t epochs = 0;            // of all models
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes;  // what the model sees, and its tensors
};

}  // namespace graphpae::run
