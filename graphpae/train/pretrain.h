// Pre-training, Algorithm 1: step after step, each a pure function of the settings, the data and the step's number.
// What a step learns from is the method's affair; batches, optimiser, schedule and checkpoints are those of any method.
//
// Several processes may train together. Each learns from its part of every batch; settings.batch_size is that of all of
// them, so that their number does not change what is learnt, but for dropout, which each draws for itself, for what a
// masked node shows instead of the token, which comes from its own part, and for rounding. Samples of a graph differ
// also where a node is a seed of one process and near a seed of another: that one sees it unmasked.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "graphpae/distributed/gradient_buckets.h"
#include "graphpae/methods/method.h"
#include "graphpae/train/batches.h"
#include "graphpae/train/checkpoint.h"
#include "graphpae/train/optimiser.h"
#include "graphpae/train/sharded_molecules.h"

namespace graphpae {

class Pretrainer final : public Resumable {
 public:
  using ProcessesPtr = std::shared_ptr<Processes>;  // null: one process alone

  // Throws a usage error for settings that contradict each other.
  Pretrainer(std::unique_ptr<BatchSource> batches, const InputShape& shape, const Settings& settings, Threads threads,
             ProcessesPtr processes = nullptr);
  // A graph: samples around settings.batch_size nodes; 0: all of it, a step per epoch, for one process alone.
  Pretrainer(const PreparedGraph& graph, const InputShape& shape, const Settings& settings,
             ProcessesPtr processes = nullptr);
  // Molecules in shuffled batches.
  Pretrainer(std::shared_ptr<const MoleculeInputs> molecules, const InputShape& shape, const Settings& settings,
             ProcessesPtr processes = nullptr);
  // Molecules from shards, in batches shuffled by shard and inside a window.
  Pretrainer(const ShardInput& shards, const InputShape& shape, const Settings& settings,
             ProcessesPtr processes = nullptr);

  // The terms of an epoch are those of the method. A batch too small for a masked node teaches nothing and is passed
  // over; a usage error if all of an epoch are. Throws a numerical error that names the epoch if a loss is not finite;
  // parameters are then those before the step.
  std::optional<EpochMetrics> train_step() override;

  int64_t steps_per_epoch() const override { return batches_->steps_per_epoch(); }
  // Mean loss of the steps done of the next epoch; NaN if there are none.
  double loss_so_far() const { return sums_.terms[0] / static_cast<double>(sums_.steps); }

  Method& method() { return *method_; }
  std::shared_ptr<Model> model() const { return method_->model(); }  // what was learnt

  // What the model, which has learnt, makes of the first batch of the last epoch: rows of nodes, or pooled ones of
  // molecules [rows,d_h].
  torch::Tensor embed_batch();

  // A checkpoint: parameters, statistics, moments, epoch and step.
  void save(const std::string& path, const std::string& data) const override;
  void restore(const std::string& path, const std::string& data) override;
  // All processes go on from where rank 0 is.
  void follow_first();

 private:
  void learn(const GraphInput& input);
  NamedTensors state() const;  // of a checkpoint
  std::vector<size_t> numbers_of(const std::vector<torch::Tensor>& parameters) const;

  ProcessesPtr processes_;
  std::unique_ptr<BatchSource> batches_;
  std::shared_ptr<Method> method_;
  Optimiser optimiser_;
  std::unique_ptr<GradientBuckets> buckets_;  // of several processes
};

// All epochs at once, on a Graph or a GraphSet.
template <class Data>
std::shared_ptr<Model> pretrain(const Data& data, const Settings& settings, const InputOptions& options = {});

}  // namespace graphpae
