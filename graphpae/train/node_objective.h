// Classes of the nodes of one graph: cross entropy of the labelled training nodes, the whole graph in every step,
// scored by accuracy.
#pragma once

#include <optional>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/train/objective.h"

namespace graphpae {

class NodeObjective final : public Objective {
 public:
  // A split, which messages call `number`. Throws a usage error for losses that are for molecules and for batch_size, a
  // data error if the training or validation part has no labelled node.
  NodeObjective(const Graph& graph, GraphInput input, const Split& split, int64_t number, const Settings& settings,
                const FinetuneSettings& finetune);

  // Share of the labelled nodes of a part that are right; nothing if there are none.
  std::optional<double> accuracy(Predictor& predictor, const std::vector<int32_t>& part);
  // The labelled nodes of a part: rows, labels, and probabilities [rows, classes].
  struct Shares {
    std::vector<int32_t> nodes, labels;
    std::vector<double> values;
  };
  Shares shares(Predictor& predictor, const std::vector<int32_t>& part);
  const Split& split() const { return split_; }

  PredictorTasks tasks() const override;
  InputShape shape() const override { return shape_; }
  Threads threads() const override { return input_.threads; }
  std::string key() const override;
  bool larger_is_better() const override { return true; }
  void set_scale(Predictor&) const override {}
  void keep_rows(Predictor& predictor) override;
  int64_t steps_per_epoch() const override { return 1; }
  StepLoss step(Predictor& predictor, int64_t epoch, int64_t step, uint64_t dropout_key) override;
  double validate(Predictor& predictor) override { return *accuracy(predictor, split_.val); }

 private:
  torch::Tensor rows(Predictor& predictor, const std::vector<int32_t>& nodes, bool training, uint64_t dropout_key);

  GraphInput input_;
  InputShape shape_;
  std::vector<int32_t> labels_;  // [N]
  std::vector<std::string> class_names_;
  Split split_;  // labelled nodes only
  int64_t number_;
  FinetuneSettings finetune_;
  torch::Tensor kept_rows_;  // [N,d] of a frozen encoder, or undefined
};

}  // namespace graphpae
