// Training on samples of a graph that is too large to be learnt from at once.
#pragma once

#include <memory>

#include "graphpae/model/prefetcher.h"
#include "graphpae/model/sample_input.h"
#include "graphpae/train/batches.h"

namespace graphpae {

// All nodes, settings.batch_size seeds at a time with their surroundings.
class SampledBatches final : public BatchSource {
 public:
  SampledBatches(const PreparedGraph& graph, const Settings& settings, std::shared_ptr<Exchange> exchange = nullptr);

  int64_t steps_per_epoch() const override { return batches_.steps_per_epoch(); }
  const GraphInput& input(int64_t epoch, int64_t step) override { return prefetcher_.input(epoch, step); }

 private:
  GraphInput make(int64_t epoch, int64_t step);

  PreparedGraph graph_;
  Settings settings_;
  std::shared_ptr<Exchange> exchange_;
  ShuffledBatches batches_;  // of nodes
  NeighbourSampler sampler_;
  std::shared_ptr<FusedWorkspace> workspace_ = std::make_shared<FusedWorkspace>();
  Prefetcher prefetcher_;  // last, so that it has ended before the others go
};

}  // namespace graphpae
