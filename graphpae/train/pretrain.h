// Pre-training, Algorithm 1: step after step, each a pure function of the settings, the data and the step's number.
//
// Several processes may train together. Each learns from its part of every batch; settings.batch_size is that of all of
// them, so that their number does not change what is learnt, but for dropout, which each draws for itself, for what a
// masked node shows instead of the token, which comes from its own part, and for rounding. Samples of a graph differ
// also where a node is a seed of one process and near a seed of another: that one sees it unmasked.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "graphpae/core/error.h"
#include "graphpae/distributed/gradient_buckets.h"
#include "graphpae/model/graph_pae.h"
#include "graphpae/train/batches.h"
#include "graphpae/train/checkpoint.h"
#include "graphpae/train/inputs.h"
#include "graphpae/train/optimiser.h"
#include "graphpae/train/sampled_batches.h"
#include "graphpae/train/sharded_molecules.h"

namespace graphpae {

struct EpochMetrics {
  int64_t epoch = 0;         // from 1
  double loss = 0;           // L, as the others the mean over the steps
  double loss_feature = 0;   // L_feat, NaN if not reconstructed
  double loss_position = 0;  // L_pos, NaN if not reconstructed
  double lr = 0;
  double seconds = 0;
};

class Pretrainer final : public Resumable {
 public:
  using ProcessesPtr = std::shared_ptr<Processes>;  // null: one process alone

  // Throws a usage error for settings that contradict each other.
  Pretrainer(std::unique_ptr<BatchSource> batches, const InputShape& shape, const Settings& settings, Threads threads,
             ProcessesPtr processes = nullptr);
  // A graph: samples around settings.batch_size nodes; 0: all of it, a step per epoch, for one process alone.
  Pretrainer(const PreparedGraph& graph, const InputShape& shape, const Settings& settings,
             ProcessesPtr processes = nullptr);
  // One whole graph, a step per epoch.
  Pretrainer(GraphInput input, const InputShape& shape, const Settings& settings);
  // Molecules in shuffled batches.
  Pretrainer(std::shared_ptr<const MoleculeInputs> molecules, const InputShape& shape, const Settings& settings,
             ProcessesPtr processes = nullptr);
  // Molecules from shards, in batches shuffled by shard and inside a window.
  Pretrainer(const ShardInput& shards, const InputShape& shape, const Settings& settings,
             ProcessesPtr processes = nullptr);

  // Trains one step; returns the metrics of the epoch if it was its last one. A batch too small for a masked node
  // teaches nothing and is passed over; a usage error if all of an epoch are. Throws a numerical error that names the
  // epoch if a loss is not finite; parameters are then those before the step.
  std::optional<EpochMetrics> train_step();
  // Trains the steps that are left of the epoch.
  EpochMetrics train_epoch();

  int64_t epoch() const override { return epoch_; }
  int64_t step() const override { return step_; }
  int64_t steps_per_epoch() const { return batches_->steps_per_epoch(); }
  bool done() const { return epoch_ >= settings_.epochs; }
  // Mean L of the steps done of the next epoch; NaN if there are none.
  double loss_so_far() const { return sums_.loss / static_cast<double>(sums_.steps); }

  GraphPae& model() { return *model_; }
  const Settings& settings() const { return settings_; }

  // A checkpoint: parameters, statistics, moments, epoch and step.
  void save(const std::string& path, const std::string& data) const override;
  void restore(const std::string& path, const std::string& data) override;
  // All processes go on from where rank 0 is.
  void follow_first();

 private:
  // Over the steps of the epoch at work.
  struct Sums {
    int64_t steps = 0;  // those that taught something
    double loss = 0, loss_feature = 0, loss_position = 0, seconds = 0;
  };
  struct StepLosses {
    double total, feature, position;
  };
  // What is masked in the whole batch, and the part of it that `input` is.
  struct DrawnCorruption {
    int64_t masked;
    Corruption part;
  };
  DrawnCorruption draw(const GraphInput& input, int64_t number);
  void learn(const GraphInput& input, const DrawnCorruption& corruption, uint64_t dropout_key);
  StepLosses learn_together(const GraphInput& input, const DrawnCorruption& corruption, uint64_t dropout_key);

  Settings settings_;
  ProcessesPtr processes_;
  std::unique_ptr<BatchSource> batches_;
  std::shared_ptr<GraphPae> model_;
  Optimiser optimiser_;
  std::unique_ptr<GradientBuckets> buckets_;  // of several processes
  std::vector<size_t> decoder_parameters_;    // numbers of those of the feature decoder
  int64_t epoch_ = 0, step_ = 0;
  Sums sums_;
};

// All epochs at once.
std::shared_ptr<GraphPae> pretrain(const Graph& graph, const Settings& settings, const InputOptions& options = {});
std::shared_ptr<GraphPae> pretrain(const GraphSet& molecules, const Settings& settings,
                                   const InputOptions& options = {});

}  // namespace graphpae
