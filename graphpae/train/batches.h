// Where the steps of training come from: the whole graph at once, or molecules in batches.
//
// Sources that make batches may be given an exchange: each of several processes then sees its part of every batch
// (core/exchange.h), and GraphInput::exchange is set if there are others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graphpae/model/molecule_batch.h"
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

// All molecules that have atoms in a new random order every epoch, settings.batch_size at a time; the last batch is
// what is left. batch_size 0: all at once.
class MoleculeBatches final : public BatchSource {
 public:
  MoleculeBatches(std::shared_ptr<const MoleculeInputs> molecules, const Settings& settings,
                  std::shared_ptr<Exchange> exchange = nullptr);
  int64_t steps_per_epoch() const override;
  const GraphInput& input(int64_t epoch, int64_t step) override;

 private:
  void shuffle(int64_t epoch);

  std::shared_ptr<const MoleculeInputs> molecules_;
  Settings settings_;
  std::shared_ptr<Exchange> exchange_;
  int64_t batch_size_;
  int64_t shuffled_epoch_ = -1;
  std::vector<int32_t> order_;  // molecules of that epoch
  GraphInput input_;
};

}  // namespace graphpae
