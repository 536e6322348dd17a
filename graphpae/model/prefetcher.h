// Prefetcher: makes the input of the next step in a thread of its own while the model learns from this one.
#pragma once

#include <cstdint>
#include <functional>
#include <future>

#include "graphpae/core/worker.h"
#include "graphpae/model/graph_input.h"

namespace graphpae {

class Prefetcher {
 public:
  // `make` is called for one step at a time, by the caller or by the thread, and uses one processor. What it uses must
  // outlive the prefetcher.
  using Make = std::function<GraphInput(int64_t epoch, int64_t step)>;
  Prefetcher(Make make, int64_t steps_per_epoch, int64_t epochs);

  // Valid until the next call. Throws what `make` throws.
  const GraphInput& input(int64_t epoch, int64_t step);

 private:
  Make make_;
  int64_t steps_per_epoch_, epochs_;
  GraphInput input_;
  int64_t next_number_ = -1;  // of the step in the run
  std::future<GraphInput> next_;
  Worker worker_;  // last, so that it has ended before the others go
};

}  // namespace graphpae
