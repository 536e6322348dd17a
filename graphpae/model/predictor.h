// Predictor: a fine-tuned model, an encoder with a head, and what its outputs mean.
#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/data/units.h"
#include "graphpae/model/model.h"
#include "graphpae/model/molecule_batch.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/settings/finetune_settings.h"

namespace graphpae {

// numbers: an output times scale plus shift is a target. classes: sigmoid of an output is the probability of class 1 of
// a target. node_classes: softmax of the outputs are the probabilities of the classes of a node.
enum class OutputKind { numbers, classes, node_classes };

struct PredictorTasks {
  OutputKind kind = OutputKind::numbers;
  HeadKind head = HeadKind::linear;
  std::vector<std::string> names;  // [T] of targets, or of the classes of nodes
  std::vector<TargetUnit> units;   // [T]
  std::string featurizer;          // "ogb", "transfer"; "" for one graph
  std::string metric, protocol;    // how the model was chosen, for people

  int64_t size() const { return static_cast<int64_t>(names.size()); }
};

// From rows of molecules or nodes to targets. linear: output(x). mlp: output(relu(hidden(x))), as wide inside as the
// rows.
class HeadImpl : public torch::nn::Module {
 public:
  HeadImpl(HeadKind kind, int64_t in, int64_t out, Initialiser& init);
  // [R,in] -> [R,out]. `fused`: the same bits for any number of threads; float32.
  torch::Tensor forward(const torch::Tensor& rows, bool fused, Threads threads);

  Linear hidden{nullptr}, output{nullptr};  // hidden is empty for linear
};
TORCH_MODULE(Head);

class Predictor {
 public:
  // The head is drawn from `head_seed`. scale and shift [T] are 1 and 0 at first.
  Predictor(std::shared_ptr<Model> encoder, PredictorTasks meaning, uint64_t head_seed);

  // Rows of molecules, pooled as settings say [G,d]; of all nodes of one graph [N,d], or only those `wanted` [M,d],
  // which are distinct.
  torch::Tensor rows(const GraphInput& input, bool training, uint64_t dropout_key,
                     const std::vector<int32_t>* wanted = nullptr);
  // What the head says of rows [R,d] -> [R,T].
  torch::Tensor outputs(const torch::Tensor& rows, bool fused, Threads threads) { return head(rows, fused, threads); }
  // Outputs in the units of the targets or as probabilities [R,T] float64, row by row.
  std::vector<double> predictions(const torch::Tensor& outputs) const;

  // For each molecule [G,T]; NaN for one without atoms. For each node [N,C].
  std::vector<double> predict(const MoleculeInputs& molecules, std::span<const int32_t> chosen);
  std::vector<double> predict(const GraphInput& graph);

  // What training changes: parameters and statistics of the encoder, parameters of the head.
  NamedTensors learned() const;

  std::shared_ptr<Model> model;
  Head head{nullptr};
  PredictorTasks tasks;
  std::vector<double> scale, shift;  // [T]
};

// A model directory (model/model.h) with head.safetensors and tasks.json beside the encoder.
void save_predictor(const std::string& directory, const Predictor& predictor, const std::string& card);

// `path` as load_model. Throws a data error if there is a model without a head, and what load_model throws.
Predictor load_predictor(const std::string& path);

}  // namespace graphpae
