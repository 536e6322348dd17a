#include "graphpae/model/gated_gcn_encoder.h"

#include <torch/torch.h>

#include "graphpae/ops/gated_ops.h"

namespace graphpae {
namespace {

// Larger states are made again in the backward pass.
constexpr int64_t kKeptElements = int64_t{1} << 20;

ops::NormParameters parameters_of(const BatchNorm& norm) {
  return {norm->weight, norm->bias, norm->running_mean, norm->running_var};
}

// The sum of one embedding per code. codes [R,A] -> [R,d]
torch::Tensor embed(const std::vector<torch::Tensor>& tables, const torch::Tensor& codes) {
  torch::Tensor sum = torch::embedding(tables[0], codes.select(1, 0));
  for (size_t c = 1; c < tables.size(); ++c) sum = sum + torch::embedding(tables[c], codes.select(1, c));
  return sum;
}

// The same, fused.
torch::Tensor embed_kinds(const std::vector<torch::Tensor>& tables, const torch::Tensor& codes, Threads threads) {
  std::vector<int64_t> starts;
  int64_t start = 0;
  for (const torch::Tensor& table : tables) {
    starts.push_back(start);
    start += table.size(0);
  }
  return ops::sum_embeddings(torch::cat(tables), codes + torch::tensor(starts, torch::kInt64), threads);
}

}  // namespace

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
  input_parameters = parameters();
  for (int64_t l = 0; l < settings.layers; ++l) {
    const std::string number = std::to_string(l);
    layers_.push_back(register_module("layer" + number, GatedGcnLayer(d, init)));
    node_norms_.push_back(register_module("node_norm" + number, BatchNorm(d)));
    // The last layer's edge state is not used.
    if (l + 1 < settings.layers) edge_norms_.push_back(register_module("edge_norm" + number, BatchNorm(d)));
  }
}

CodedRows GatedGcnEncoder::with_token(const CodedRows& atoms, const std::vector<int32_t>& masked) const {
  torch::Tensor hidden = atoms.kinds.clone();
  hidden.select(1, 0).fill_(mask_token());
  const CodedRows distinct = coded_rows(torch::cat({atoms.kinds, hidden}));  // many kinds differ in their type only
  const int32_t count = static_cast<int32_t>(atoms.kinds.size(0));
  CodedRows shown{distinct.kinds, atoms.kind_of};
  for (const int32_t node : masked) shown.kind_of[node] += count;
  for (int32_t& kind : shown.kind_of) kind = distinct.kind_of[kind];
  return shown;
}

Encoding GatedGcnEncoder::encode(const GraphInput& input, const Pass& pass) {
  const bool relu = settings_.activation == Activation::automatic || settings_.activation == Activation::relu;
  return input.fused() && relu ? encode_fused(input, pass) : encode_plain(input, pass);
}

Encoding GatedGcnEncoder::encode_plain(const GraphInput& input, const Pass& pass) {
  torch::Tensor atoms = input.atoms.dense();
  if (pass.hidden != nullptr) atoms.select(1, 0).index_fill_(0, pass.hidden->masked_indices, mask_token());
  torch::Tensor nodes = embed(atom_tables_, atoms), edges = embed(bond_tables_, input.bonds.dense());
  torch::Tensor positions = pass.positions.rows;
  if (pass.positions.row_of_edge != nullptr)
    positions = positions.index_select(0, torch::tensor(*pass.positions.row_of_edge, torch::kInt64));
  const Activation activation = settings_.activation == Activation::automatic ? Activation::relu : settings_.activation;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const auto out = layers_[l](input, nodes, edges, positions);
    const bool last = l + 1 == layers_.size();
    nodes = node_norms_[l](out.nodes, pass.training, input.exchange.get());
    positions = out.positions;
    if (!last) {
      nodes = activate(nodes, activation);
      edges = activate(edge_norms_[l](out.edges, pass.training, input.exchange.get()), activation);
      edges = dropout(edges, dropout_of(pass, settings_.edge_dropout, l, kEdges));
    }
    nodes = dropout(nodes, dropout_of(pass, settings_.dropout, l, kNodes));
    if (positions.defined()) positions = dropout(positions, dropout_of(pass, settings_.edge_dropout, l, kPositions));
  }
  return {nodes, positions, false};
}

// Atoms with equal codes are embedded and multiplied by the first layer once, and so are bonds.
Encoding GatedGcnEncoder::encode_fused(const GraphInput& input, const Pass& pass) {
  const Threads threads = input.threads;
  const ops::GatedBatch batch{input.graph.index, std::make_shared<const std::vector<int64_t>>(input.graph_offsets),
                              input.node_scale(torch::kFloat32), threads};
  const CodedRows atoms = pass.hidden == nullptr ? input.atoms : with_token(input.atoms, pass.hidden->masked);
  const auto map_of = [](const CodedRows& coded) {
    return std::make_shared<const std::vector<int32_t>>(coded.kind_of);
  };
  ops::GatedStates states;
  states.nodes = embed_kinds(atom_tables_, atoms.kinds, threads);
  states.node_rows = map_of(atoms);
  states.edges = embed_kinds(bond_tables_, input.bonds.kinds, threads);
  states.edge_rows = map_of(input.bonds);
  states.positions = pass.positions.rows;
  states.position_rows = pass.positions.row_of_edge;
  for (size_t l = 0; l < layers_.size(); ++l) {
    const bool last = l + 1 == layers_.size();
    ops::GatedWants wants;
    wants.hat = !last;
    wants.refined = states.positions.defined() && (!last || pass.wants_positions);
    wants.position_dropout = dropout_of(pass, settings_.edge_dropout, l, kPositions);
    const ops::GatedOutput out = ops::gated_layer(batch, states, layers_[l]->joined_parameters(), wants);
    const auto normalise = [&](const torch::Tensor& x, BatchNorm& norm, bool relu, double probability, DropoutSite site,
                               ops::Remake& again) {
      return ops::batch_norm(x, parameters_of(norm), pass.training, relu, dropout_of(pass, probability, l, site),
                             threads, x.numel() > kKeptElements ? &again : nullptr, input.exchange.get());
    };
    states = {};
    states.positions = out.refined;
    // ReLU leaves about half, dropout its share of them.
    states.node_density = pass.training ? (1 - settings_.dropout) / 2 : 0.5;
    states.edge_density = pass.training ? (1 - settings_.edge_dropout) / 2 : 0.5;
    if (last && !pass.wants_nodes) {
      // Nobody reads the nodes of this pass, but their moments count.
      if (pass.training) ops::track_moments(out.nodes, parameters_of(node_norms_[l]), threads, input.exchange.get());
      break;
    }
    states.nodes = normalise(out.nodes, node_norms_[l], !last, settings_.dropout, kNodes, states.nodes_again);
    if (!last)
      states.edges = normalise(out.hat, edge_norms_[l], true, settings_.edge_dropout, kEdges, states.edges_again);
  }
  return {states.nodes, states.positions, false};
}

}  // namespace graphpae
