// Training on samples of a graph that is too large to be learnt from at once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graphpae/model/prefetcher.h"
#include "graphpae/model/sample_input.h"
#include "graphpae/train/batches.h"

namespace graphpae {

// All nodes in a new random order every epoch, settings.batch_size seeds at a time with their surroundings; the last
// batch is what is left.
class SampledBatches final : public BatchSource {
 public:
  SampledBatches(const PreparedGraph& graph, const Settings& settings, std::shared_ptr<Exchange> exchange = nullptr);

  int64_t steps_per_epoch() const override;
  const GraphInput& input(int64_t epoch, int64_t step) override { return prefetcher_.input(epoch, step); }

 private:
  GraphInput make(int64_t epoch, int64_t step);

  PreparedGraph graph_;
  Settings settings_;
  std::shared_ptr<Exchange> exchange_;
  int64_t batch_size_;
  NeighbourSampler sampler_;
  int64_t shuffled_epoch_ = -1;
  std::vector<int32_t> order_;  // nodes of that epoch
  std::shared_ptr<FusedWorkspace> workspace_ = std::make_shared<FusedWorkspace>();
  Prefetcher prefetcher_;  // last, so that it has ended before the others go
};

}  // namespace graphpae
