// Fine-tuning: an encoder and a head trained together on labels.
//
//   finetune_settings.h   which head, loss and protocol
//   molecule_objective.h  targets of molecules
//   node_objective.h      classes of nodes
//   model/predictor.h     the result
//
// strict keeps the first epoch with the best validation score, paper the last one; the test part chooses nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/model/inputs.h"
#include "graphpae/train/checkpoint.h"
#include "graphpae/train/objective.h"
#include "graphpae/train/optimiser.h"

namespace graphpae {

class Finetuner final : public Resumable {
 public:
  // `pretrained` may be null: then the encoder starts as settings.seed draws it. Throws a data error if it is not of
  // the shape that settings and data ask for.
  Finetuner(std::shared_ptr<Objective> objective, const Settings& settings, const FinetuneSettings& finetune,
            const Model* pretrained);

  // The last step of an epoch also scores the validation part: the terms are "loss" and "validation"
  // (Objective::validate). Throws a numerical error that names the epoch if a loss is not finite; parameters are then
  // those before the step.
  std::optional<EpochMetrics> train_step() override;

  int64_t steps_per_epoch() const override { return objective_->steps_per_epoch(); }
  bool done() const override { return Resumable::done() || stopped_early(); }
  bool stopped_early() const;  // patience is at an end

  int64_t best_epoch() const { return best_epoch_; }  // by validation; 0: before the first
  int64_t reported_epoch() const;                     // the one that finish() leaves
  // Goes back to the best epoch, unless the protocol is to report the last.
  void finish();

  Predictor& predictor() { return *predictor_; }

  // A checkpoint: what was learnt, the best so far, moments, epoch and step.
  void save(const std::string& path, const std::string& data) const override;
  void restore(const std::string& path, const std::string& data) override;

 private:
  void keep_as_best();
  NamedTensors state() const;  // of a checkpoint

  std::shared_ptr<Objective> objective_;
  Settings encoder_settings_;  // with the encoder's lr
  FinetuneSettings finetune_;
  std::unique_ptr<Predictor> predictor_;
  std::string start_;  // hash of the weights training began with
  std::unique_ptr<Optimiser> encoder_optimiser_, head_optimiser_;
  int64_t best_epoch_ = 0;
  double best_score_ = 0;
  NamedTensors best_;  // learned() of the best epoch
};

// All epochs on the training part of a split; the epoch that `finetune.protocol` says is kept. `pretrained` may be
// null: then the encoder starts as settings.seed draws it. Nodes learn their classes, molecules all targets together.
Predictor finetune(const Model* pretrained, const Graph& graph, const Settings& settings,
                   const FinetuneSettings& finetune, const Split& split, const InputOptions& options = {});
Predictor finetune(const Model* pretrained, const GraphSet& molecules, const Settings& settings,
                   const FinetuneSettings& finetune, const Split& split, const InputOptions& options = {});

// Probabilities of classes [N,C] of the nodes of any graph with the same features, or targets [G,T] of any molecules;
// NaN for a molecule without atoms.
std::vector<double> predict(Predictor& predictor, const Graph& graph, const InputOptions& options = {});
std::vector<double> predict(Predictor& predictor, const GraphSet& molecules, const InputOptions& options = {});

}  // namespace graphpae
