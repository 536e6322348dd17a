#include "graphpae/model/gated_gcn_encoder.h"

#include <torch/torch.h>

namespace graphpae {

GatedGcnEncoder::GatedGcnEncoder(const Settings& settings, const InputShape& shape, Initialiser& init)
    : settings_(settings) {
  const int64_t d = settings.width;
  const auto add_tables = [&](const char* name, const std::vector<int64_t>& codes, std::vector<torch::Tensor>& tables) {
    for (size_t c = 0; c < codes.size(); ++c)
      tables.push_back(register_parameter(name + std::to_string(c), init.xavier_uniform({codes[c], d}, d, codes[c])));
  };
  add_tables("atom", shape.atom_codes, atom_tables_);
  add_tables("bond", shape.bond_codes, bond_tables_);
  if (settings.use_positions) distance = register_module("distance", DistanceEmbedding(settings, d, init));
  for (int64_t l = 0; l < settings.layers; ++l) {
    const std::string number = std::to_string(l);
    layers_.push_back(register_module("layer" + number, GatedGcnLayer(d, init)));
    node_norms_.push_back(register_module("node_norm" + number, torch::nn::BatchNorm1d(d)));
    // The last layer's edge state is not used.
    if (l + 1 < settings.layers)
      edge_norms_.push_back(register_module("edge_norm" + number, torch::nn::BatchNorm1d(d)));
  }
}

torch::Tensor GatedGcnEncoder::embed(const std::vector<torch::Tensor>& tables, const torch::Tensor& codes) {
  torch::Tensor sum = torch::embedding(tables[0], codes.select(1, 0));
  for (size_t c = 1; c < tables.size(); ++c) sum = sum + torch::embedding(tables[c], codes.select(1, c));
  return sum;
}

Encoding GatedGcnEncoder::encode(const GraphInput& input, const Pass& pass) {
  torch::Tensor atoms = input.atoms.dense();
  if (pass.hidden != nullptr) {
    // The mask token is an atom type beyond the real ones.
    atoms.select(1, 0).index_fill_(0, pass.hidden->masked_indices, atom_tables_[0].size(0) - 1);
  }
  torch::Tensor nodes = embed(atom_tables_, atoms), edges = embed(bond_tables_, input.bonds.dense()),
                positions = pass.positions;
  const Activation activation = settings_.activation == Activation::automatic ? Activation::relu : settings_.activation;
  const auto drop = [&](const torch::Tensor& x, double probability, size_t layer, uint64_t site) {
    if (!pass.training || !x.defined()) return x;
    return dropout(x, {static_cast<float>(probability), Rng(pass.dropout_key, layer).bits(site)});
  };
  for (size_t l = 0; l < layers_.size(); ++l) {
    const auto out = layers_[l](input, nodes, edges, positions);
    const bool last = l + 1 == layers_.size();
    node_norms_[l]->train(pass.training);
    nodes = node_norms_[l](out.nodes);
    positions = out.positions;
    if (!last) {
      edge_norms_[l]->train(pass.training);
      nodes = activate(nodes, activation);
      edges = drop(activate(edge_norms_[l](out.edges), activation), settings_.edge_dropout, l, 1);
    }
    nodes = drop(nodes, settings_.dropout, l, 0);
    positions = drop(positions, settings_.edge_dropout, l, 2);
  }
  return {nodes, positions, false};
}

}  // namespace graphpae
