// The encoder, Section 4.2: layers that update node representations X^(l) and position representations P^(l) together.
#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "graphpae/model/distance_embedding.h"
#include "graphpae/model/graph_input.h"
#include "graphpae/model/modules.h"

namespace graphpae {

// One pass through the encoder.
struct Pass {
  const Masking* hidden = nullptr;  // features hidden in this pass; null: all features as they are
  EmbeddedDistances positions;      // P^(0)
  bool training = false;            // dropout and batch statistics
  uint64_t dropout_key = 0;         // another key, other dropped elements
  bool wants_nodes = true;          // fused operations leave out what is not wanted
  bool wants_positions = true;
  const std::vector<int32_t>* wanted = nullptr;  // [M] the nodes that are wanted; null: all
};

struct Encoding {
  torch::Tensor nodes;       // [N,d_h] X^(L)
  torch::Tensor positions;   // [E,width] P^(L), the refined positions; undefined without positions
  bool only_wanted = false;  // nodes is [M,d_h], the rows of Pass::wanted
};

// Where elements are dropped; each place of a layer has decisions of its own.
enum DropoutSite : uint64_t { kNodes = 0, kEdges = 1, kPositions = 2 };
kernels::Dropout dropout_of(const Pass& pass, double probability, size_t layer, DropoutSite site);

class Encoder : public torch::nn::Module {
 public:
  virtual Encoding encode(const GraphInput& input, const Pass& pass) = 0;

  DistanceEmbedding distance{nullptr};  // empty without positions
  // Parameters that come before the first layer: tokens, embeddings, what lifts features and distances.
  std::vector<torch::Tensor> input_parameters;
};

struct FeaturePlan;  // settings/feature_plan.h

// What comes in: F features per node (GAT), or how many values each atom and bond code has (GatedGCN).
struct InputShape {
  int64_t features = 0;
  std::vector<int64_t> atom_codes,
      bond_codes;  // the first atom code is the atom type; its last value is the mask token
  std::vector<std::string> feature_names = {};   // of the columns of the data, or empty
  std::shared_ptr<const FeaturePlan> plan = {};  // how features are made of a graph; null: they are those of the data
};

// An attention network for one graph or a gated convolution for molecules, as settings say.
std::shared_ptr<Encoder> make_encoder(const Settings& settings, const InputShape& shape, Initialiser& init);

}  // namespace graphpae
