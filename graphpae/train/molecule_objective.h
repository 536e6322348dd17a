// Targets of molecules. A missing label counts nowhere.
//
// Classes 0 and 1 learn from binary cross entropy and are scored by ROC-AUC. Numbers learn from the absolute (l1) or
// squared error (l2), of labels standardised by the training part (strict) or as they are (paper), and are scored by
// MAE (l1) or RMSE (l2) in their own units.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "graphpae/core/metrics.h"
#include "graphpae/core/split.h"
#include "graphpae/model/molecule_batch.h"
#include "graphpae/train/batches.h"
#include "graphpae/train/objective.h"

namespace graphpae {

enum class TargetMetric { rocauc, rmse, mae };
const char* metric_name(TargetMetric metric);  // "rocauc", "rmse", "mae"

// Of one target on one part; nothing: no labels there, or for ROC-AUC all of one class.
struct TargetScore {
  std::optional<double> rocauc, rmse, mae;
  std::optional<double> of(TargetMetric metric) const;
  // What was scored: molecules that have a label, and what was predicted for them.
  std::vector<int32_t> rows;
  std::vector<double> labels, predictions;
};

struct TargetScores {
  std::vector<TargetScore> tasks;  // [T]
  std::optional<double> mean;      // of the metric over targets, in their own units
  std::optional<double> scaled;    // of the metric over the deviation of the training labels; ROC-AUC as it is
};

class MoleculeObjective final : public Objective {
 public:
  // Labels `values` [G,T] of targets `names`. `featurizer` and `units` (empty or [T]) are kept for PredictorTasks.
  // Throws a usage error if the loss does not fit the labels; a data error if a target has no label in the training
  // part, if no target can be scored on the validation part, and for targets of both kinds.
  MoleculeObjective(std::shared_ptr<const MoleculeInputs> molecules, std::vector<std::string> names,
                    std::vector<double> values, Split split, const Settings& settings, const FinetuneSettings& finetune,
                    std::string featurizer = "", std::vector<TargetUnit> units = {});

  TargetMetric metric() const { return metric_; }
  const std::vector<double>& deviations() const { return deviations_; }  // [T] of the training labels; 1 for classes
  const Split& split() const { return split_; }
  // Of a part of the split.
  TargetScores score(Predictor& predictor, std::span<const int32_t> part);

  PredictorTasks tasks() const override;
  InputShape shape() const override { return molecules_->shape(); }
  Threads threads() const override { return molecules_->threads(); }
  std::string key() const override;
  bool larger_is_better() const override { return metric_ == TargetMetric::rocauc; }
  void set_scale(Predictor& predictor) const override;
  void keep_rows(Predictor& predictor) override;
  int64_t steps_per_epoch() const override { return batches_.steps_per_epoch(); }
  StepLoss step(Predictor& predictor, int64_t epoch, int64_t step, uint64_t dropout_key) override;
  double validate(Predictor& predictor) override;

 private:
  GraphTargets targets() const { return {names_, values_}; }
  double label(int64_t molecule, int64_t task) const { return values_[molecule * num_tasks() + task]; }
  int64_t num_tasks() const { return static_cast<int64_t>(names_.size()); }
  void choose_loss(TargetLoss wanted);
  void measure_training_labels(Protocol protocol);
  void check_validation() const;

  std::shared_ptr<const MoleculeInputs> molecules_;
  std::vector<std::string> names_;
  std::vector<double> values_;  // [G,T]
  Split split_;                 // molecules with atoms only
  ShuffledBatches batches_;     // of the training part
  FinetuneSettings finetune_;
  std::string featurizer_;
  std::vector<TargetUnit> units_;
  TargetLoss loss_ = TargetLoss::l2;
  TargetMetric metric_ = TargetMetric::rmse;
  std::vector<double> scale_, shift_, deviations_;  // [T]
  torch::Tensor kept_rows_;                         // [G,d] of a frozen encoder, or undefined
};

}  // namespace graphpae
