#include "graphpae/train/node_objective.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/core/metrics.h"
#include "graphpae/model/inputs.h"

namespace graphpae {
namespace {

std::vector<int32_t> labelled(const std::vector<int32_t>& part, const std::vector<int32_t>& labels) {
  std::vector<int32_t> nodes;
  std::copy_if(part.begin(), part.end(), std::back_inserter(nodes), [&](int32_t i) { return labels[i] >= 0; });
  return nodes;
}

}  // namespace

NodeObjective::NodeObjective(const Graph& graph, GraphInput input, const Split& split, int64_t number,
                             const Settings& settings, const FinetuneSettings& finetune)
    : input_(std::move(input)),
      shape_(input_shape(graph)),
      labels_(graph.labels()),
      class_names_(graph.class_names()),
      number_(number),
      finetune_(finetune) {
  if (finetune.loss != TargetLoss::automatic)
    throw usage_error("classes of nodes learn from cross entropy: loss l1, l2 and bce are for targets of molecules");
  if (settings.batch_size > 0) throw usage_error("fine-tuning takes the whole graph in a step; use batch_size=0");
  if (labels_.empty()) throw data_error("the graph has no labels; --labels names a file of them");
  split_ = {labelled(split.train, labels_), labelled(split.val, labels_), labelled(split.test, labels_)};
  for (const auto& [part, name] : {std::pair{&split_.train, "training"}, {&split_.val, "validation"}}) {
    if (part->empty()) throw data_error(fmt::format("split {}: the {} part has no labelled node", number, name));
  }
  for (int64_t c = static_cast<int64_t>(class_names_.size()); c < graph.num_classes(); ++c)
    class_names_.push_back(std::to_string(c));
}

PredictorTasks NodeObjective::tasks() const {
  PredictorTasks tasks;
  tasks.kind = OutputKind::node_classes;
  tasks.head = finetune_.head;
  tasks.names = class_names_;
  tasks.metric = "accuracy";
  tasks.protocol = name_of(finetune_.protocol);
  return tasks;
}

std::string NodeObjective::key() const { return fmt::format("split {}", number_); }

void NodeObjective::keep_rows(Predictor& predictor) {
  const torch::NoGradGuard no_grad;
  kept_rows_ = predictor.rows(input_, false, 0);
}

torch::Tensor NodeObjective::rows(Predictor& predictor, const std::vector<int32_t>& nodes, bool training,
                                  uint64_t dropout_key) {
  if (!kept_rows_.defined()) return predictor.rows(input_, training, dropout_key, &nodes);
  return kept_rows_.index_select(0, torch::tensor(nodes, torch::kInt64));
}

StepLoss NodeObjective::step(Predictor& predictor, int64_t, int64_t, uint64_t dropout_key) {
  std::vector<int32_t> classes;
  for (const int32_t node : split_.train) classes.push_back(labels_[node]);
  const torch::Tensor outputs =
      predictor.outputs(rows(predictor, split_.train, true, dropout_key), input_.fused(), input_.threads);
  return {outputs, class_loss(outputs, classes)};
}

NodeObjective::Shares NodeObjective::shares(Predictor& predictor, const std::vector<int32_t>& part) {
  const torch::NoGradGuard no_grad;
  Shares shares{labelled(part, labels_), {}, {}};
  if (shares.nodes.empty()) return shares;
  for (const int32_t node : shares.nodes) shares.labels.push_back(labels_[node]);
  shares.values =
      predictor.predictions(predictor.outputs(rows(predictor, shares.nodes, false, 0), input_.fused(), input_.threads));
  return shares;
}

std::optional<double> NodeObjective::accuracy(Predictor& predictor, const std::vector<int32_t>& part) {
  const Shares found = shares(predictor, part);
  if (found.nodes.empty()) return std::nullopt;
  std::vector<int32_t> predicted;
  const auto classes = static_cast<int64_t>(class_names_.size());
  for (auto first = found.values.begin(); first != found.values.end(); first += classes)
    predicted.push_back(static_cast<int32_t>(std::max_element(first, first + classes) - first));
  return graphpae::accuracy(found.labels, predicted);
}

}  // namespace graphpae
