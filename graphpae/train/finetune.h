// Fine-tuning: the encoder and a linear head over all tasks, trained together on the labels of molecules.
//
// Tasks of classes 0 and 1 learn from the binary cross entropy of logits and are scored by ROC-AUC; tasks of numbers
// learn from the squared error of targets standardised by the training part and are scored by RMSE in their own units.
// A missing label counts nowhere. The first epoch with the best validation score is kept; the test part chooses
// nothing.
#pragma once

#include <torch/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "graphpae/core/split.h"
#include "graphpae/evaluate/graph_protocols.h"
#include "graphpae/model/graph_pae.h"
#include "graphpae/model/molecule_batch.h"
#include "graphpae/train/optimiser.h"

namespace graphpae {

// What shapes a model from `model`; how it is trained (epochs, lr, batch_size, dropouts, pooling, seed, ...) from
// `training`.
Settings finetune_settings(const Settings& model, const Settings& training);
// Whether fine-tuning takes a setting from `training`.
bool is_training_setting(const std::string& key);

struct FinetuneEpoch {
  int64_t epoch = 0;      // from 1
  double loss = 0;        // mean over the steps
  double validation = 0;  // mean over tasks of the metric
  double lr = 0;
  double seconds = 0;
};

struct FinetuneScores {
  double mean = 0;                           // of the tasks that have one
  std::vector<std::optional<double>> tasks;  // [T] nothing: no labels, or all of one class
};

class Finetuner {
 public:
  // `pretrained` may be null: then the encoder starts as settings.seed draws it. Refers to `targets`. Throws a data
  // error if the training or validation part has no label to learn from or to be scored by.
  Finetuner(std::shared_ptr<const MoleculeInputs> molecules, const GraphTargets& targets, const Split& split,
            const Settings& settings, const GraphPae* pretrained);

  // Trains an epoch and scores the validation part. Throws a numerical error that names the epoch if a loss is not
  // finite.
  FinetuneEpoch train_epoch();
  bool done() const { return epoch_ >= settings_.epochs; }

  GraphMetric metric() const { return metric_; }
  int64_t best_epoch() const { return best_epoch_; }  // 0: before the first
  // Goes back to the best epoch.
  void restore_best();
  // Predictions [G,T] float64 for molecules as they are now: logits, or numbers in the units of the targets. NaN for
  // molecules without atoms.
  std::vector<double> predict(std::span<const int32_t> molecules);
  // Of predictions for a part of the split. Throws a data error if no task can be scored.
  FinetuneScores score(std::span<const int32_t> molecules);

  GraphPae& model() { return *model_; }
  // The head: "weight" [d,T], "bias" [T], and what predictions are multiplied by and shifted by, "scale" and "shift"
  // [T].
  std::vector<std::pair<std::string, torch::Tensor>> head_tensors() const;

 private:
  torch::Tensor outputs(const GraphInput& input, bool training, uint64_t dropout_key);         // [G,T], standardised
  torch::Tensor loss(const torch::Tensor& outputs, std::span<const int32_t> molecules) const;  // undefined: no labels
  std::vector<std::pair<std::string, torch::Tensor>> learned() const;                          // what training changes
  void keep_as_best();

  std::shared_ptr<const MoleculeInputs> molecules_;
  const GraphTargets& targets_;
  std::vector<int32_t> train_, val_;  // with atoms
  Settings settings_;
  GraphMetric metric_;
  std::shared_ptr<GraphPae> model_;
  Linear head_{nullptr};
  torch::Tensor scale_, shift_;  // [T] float32
  std::unique_ptr<Optimiser> optimiser_;
  int64_t epoch_ = 0, best_epoch_ = 0;
  double best_score_ = 0;
  std::vector<torch::Tensor> best_;
};

}  // namespace graphpae
