// Where the steps of training come from: the whole graph at once, samples of it, or molecules in batches.
//
// Sources that make batches may be given an exchange: each of several processes then sees its part of every batch
// (core/exchange.h), and GraphInput::exchange is set if there are others.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graphpae/model/inputs.h"
#include "graphpae/model/prefetcher.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

class BatchSource {
 public:
  virtual ~BatchSource() = default;

  virtual int64_t steps_per_epoch() const = 0;  // at least 1
  // What the model sees in a step, a pure function of both numbers. Valid until the next call.
  virtual const GraphInput& input(int64_t epoch, int64_t step) = 0;
};

class WholeGraph final : public BatchSource {
 public:
  explicit WholeGraph(GraphInput input) : input_(std::move(input)) {}
  int64_t steps_per_epoch() const override { return 1; }
  const GraphInput& input(int64_t, int64_t) override { return input_; }

 private:
  GraphInput input_;
};

// Members in a new random order every epoch, settings.batch_size at a time; the last batch is what is left. batch_size
// 0: all at once.
class ShuffledBatches {
 public:
  ShuffledBatches(std::vector<int32_t> members, const Settings& settings);
  int64_t steps_per_epoch() const;
  // The batch of a step, or the part of it that a process takes; valid until the next call.
  struct Batch {
    std::span<const int32_t> members;
    bool divided = false;
  };
  Batch batch(int64_t epoch, int64_t step, const Exchange* exchange = nullptr);

 private:
  std::vector<int32_t> members_, order_;  // the second of the epoch
  Settings settings_;
  int64_t batch_size_;
  int64_t shuffled_epoch_ = -1;
};

// All nodes of a graph that is too large to be learnt from at once, settings.batch_size seeds at a time with their
// surroundings.
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

// All molecules that have atoms.
class MoleculeBatches final : public BatchSource {
 public:
  MoleculeBatches(std::shared_ptr<const MoleculeInputs> molecules, const Settings& settings,
                  std::shared_ptr<Exchange> exchange = nullptr);
  int64_t steps_per_epoch() const override { return batches_.steps_per_epoch(); }
  const GraphInput& input(int64_t epoch, int64_t step) override;

 private:
  std::shared_ptr<const MoleculeInputs> molecules_;
  std::shared_ptr<Exchange> exchange_;
  ShuffledBatches batches_;
  GraphInput input_;
};

}  // namespace graphpae
