#include <torch/torch.h>

#include <cmath>

#include "graphpae/methods/graphmae/graphmae.h"
#include "graphpae/ops/attention_ops.h"
#include "graphpae/ops/dense_ops.h"
#include "graphpae/ops/feature_ops.h"
#include "graphpae/ops/tensors.h"

namespace graphpae::graphmae {
namespace {

constexpr double kSlope = 0.2, kFirstSlope = 0.25;  // of LeakyReLU, of PReLU

// A square map that starts uniform in +-1/sqrt(d).
torch::Tensor draw_map(int64_t d, Initialiser& init) {
  const double range = 1 / std::sqrt(static_cast<double>(d));
  return init.uniform({d, d}, -range, range);
}

// x w, the same bits for any number of threads where the input is fused.
torch::Tensor multiplied(const GraphInput& input, const torch::Tensor& x, const torch::Tensor& w,
                         const torch::Tensor& bias = {}) {
  if (input.fused()) return ops::linear(x.contiguous(), w, bias, input.threads);
  return bias.defined() ? torch::mm(x, w) + bias : torch::mm(x, w);
}

torch::Tensor remasked(const torch::Tensor& rows, const Masking& masking) {
  return rows.index_fill(0, masking.masked_indices, 0);
}

kernels::Dropout dropout_of(double probability, uint64_t key, uint64_t site) {
  return {static_cast<float>(probability), Rng(key, site).bits(0)};
}

}  // namespace

torch::Tensor Decoder::loss(const Encoded& encoded) {
  return scaled_cosine_error(predict(encoded),
                             encoded.input.features.dense().index_select(0, encoded.masking.masked_indices),
                             encoded.settings.gamma);
}

GatDecoder::GatDecoder(const Settings& settings, int64_t features, Initialiser& init) {
  const int64_t d = settings.width;
  const double gain = std::sqrt(2.0);
  enter = register_parameter("enter", draw_map(d, init));
  weight = register_parameter("weight", init.xavier_normal({features, d}, d, features, gain));
  attention_source = register_parameter("attention_source", init.xavier_normal({features}, features, features, gain));
  attention_target = register_parameter("attention_target", init.xavier_normal({features}, features, features, gain));
  bias = register_parameter("bias", torch::zeros({features}));
}

torch::Tensor GatDecoder::gathered(const Encoded& encoded) {
  const auto& [input, nodes, masking, settings, dropout_key] = encoded;
  const MessageGraph& graph = input.graph;
  kernels::Dropout dropped, edge_dropped;
  if (is_training()) {
    dropped = dropout_of(settings.dropout, dropout_key, 0);
    edge_dropped = dropout_of(settings.edge_dropout, dropout_key, 1);
  }
  const torch::Tensor ends = multiplied(input, torch::stack({attention_source, attention_target}), weight);  // [2,d]
  const torch::Tensor source = ends[0], target = ends[1];
  const torch::Tensor h = dropout(remasked(multiplied(input, nodes, enter), masking), dropped);
  if (input.fused()) {
    const ops::WorkspacePtr workspace(input.workspace, &input.workspace->aggregate);
    const torch::Tensor sums = ops::attend(graph.index, h.contiguous(), source.unsqueeze(0), target.unsqueeze(0), {},
                                           torch::zeros({h.size(1)}), kSlope, edge_dropped, workspace, input.threads)
                                   .first;
    return ops::gather_rows(sums, masking.masked, input.threads);
  }
  const torch::Tensor logits =
      torch::mv(h, source).index_select(0, graph.sources) + torch::mv(h, target).index_select(0, graph.targets);
  const torch::Tensor shares =
      dropout(segment_softmax(torch::leaky_relu(logits, kSlope).unsqueeze(1), graph.targets, graph.num_nodes()),
              edge_dropped);  // [E,1]
  return torch::zeros_like(h)
      .index_add(0, graph.targets, shares * h.index_select(0, graph.sources))
      .index_select(0, masking.masked_indices);
}

torch::Tensor GatDecoder::predict(const Encoded& encoded) { return torch::mm(gathered(encoded), weight.t()) + bias; }

torch::Tensor GatDecoder::loss(const Encoded& encoded) {
  const auto& [input, nodes, masking, settings, dropout_key] = encoded;
  if (!input.fused()) return Decoder::loss(encoded);
  return ops::feature_error(gathered(encoded), weight, bias, *input.features.matrix(), masking.masked,
                            ops::FeatureErrorKind::scaled_cosine, settings.gamma, input.workspace->error,
                            input.threads);
}

GinDecoder::GinDecoder(const Settings& settings, const std::vector<int64_t>& bond_codes, int64_t types,
                       Initialiser& init) {
  const int64_t d = settings.width;
  slope = register_parameter("slope", torch::full({1}, kFirstSlope));
  enter = register_parameter("enter", draw_map(d, init));
  for (size_t c = 0; c < bond_codes.size(); ++c) {
    const int64_t values = bond_codes[c] + (c == 0 ? 1 : 0);
    bond_tables.push_back(register_parameter("bond" + std::to_string(c), init.xavier_uniform({values, d}, d, values)));
  }
  hidden = register_module("hidden", Linear(d, 2 * d, init));
  out = register_module("out", Linear(2 * d, types, init));
}

torch::Tensor GinDecoder::predict(const Encoded& encoded) {
  const auto& [input, nodes, masking, settings, dropout_key] = encoded;
  const MessageGraph& graph = input.graph;
  const torch::Tensor active =
      input.fused() ? ops::prelu_dropout(nodes.contiguous(), slope, {}, input.threads) : torch::prelu(nodes, slope);
  const torch::Tensor h = remasked(multiplied(input, active, enter), masking);
  const torch::Tensor bonds = input.bonds.dense();  // [E,B]
  torch::Tensor messages = h.index_select(0, graph.sources), itself = bond_tables[0].select(0, -1);
  for (size_t c = 0; c < bond_tables.size(); ++c) {
    messages = messages + torch::embedding(bond_tables[c], bonds.select(1, static_cast<int64_t>(c)));
    if (c > 0) itself = itself + bond_tables[c].select(0, 0);
  }
  const torch::Tensor sums = (h + itself).index_add(0, graph.targets, messages);
  const torch::Tensor inner =
      torch::relu(multiplied(input, sums.index_select(0, masking.masked_indices), hidden->weight, hidden->bias));
  return multiplied(input, inner, out->weight, out->bias);
}

}  // namespace graphpae::graphmae
