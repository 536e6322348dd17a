// Pre-training, Algorithm 1: epoch after epoch, each a pure function of the settings, the graph and the epoch's number.
#pragma once

#include <memory>
#include <string>

#include "graphpae/core/error.h"
#include "graphpae/model/graph_pae.h"
#include "graphpae/train/inputs.h"
#include "graphpae/train/optimiser.h"

namespace graphpae {

struct EpochMetrics {
  int64_t epoch = 0;         // from 1
  double loss = 0;           // L
  double loss_feature = 0;   // L_feat, NaN if not reconstructed
  double loss_position = 0;  // L_pos, NaN if not reconstructed
  double lr = 0;
};

// A checkpoint file that is not whole.
class DamagedCheckpoint : public Error {
 public:
  explicit DamagedCheckpoint(const std::string& message) : Error(ErrorKind::data, message) {}
};

class Pretrainer {
 public:
  // Throws a usage error for settings that contradict each other.
  Pretrainer(GraphInput input, const InputShape& shape, const Settings& settings);

  // Trains one epoch. Throws a numerical error that names the epoch if a loss is not finite; parameters are then those
  // before the epoch.
  EpochMetrics train_epoch();

  int64_t epoch() const { return epoch_; }  // epochs done
  bool done() const { return epoch_ >= settings_.epochs; }
  torch::Tensor embed();  // [N,d_h] float32, rows in the order of the nodes

  GraphPae& model() { return *model_; }
  const GraphInput& input() const { return input_; }
  const Settings& settings() const { return settings_; }

  // A checkpoint: parameters, moments and the epoch; `data` names the data (a hash). Written completely or not at all.
  void save(const std::string& path, const std::string& data) const;
  // Goes on where save() was. Throws DamagedCheckpoint, or another error if it belongs to other data or settings;
  // nothing is changed then.
  void restore(const std::string& path, const std::string& data);

 private:
  Settings settings_;
  GraphInput input_;
  std::shared_ptr<GraphPae> model_;
  Optimiser optimiser_;
  int64_t epoch_ = 0;
};

// All epochs at once.
std::shared_ptr<GraphPae> pretrain(const Graph& graph, const Settings& settings, const InputOptions& options = {});

// Throws a data error naming both numbers if the graph has not as many features as the model was trained on.
void check_features(const GraphPae& model, const Graph& graph);

// Frozen node representations [N,d_h] float32 of any graph with the features the model was trained on.
torch::Tensor embed(GraphPae& model, const Graph& graph, const InputOptions& options = {});

}  // namespace graphpae
