#include "graphpae/model/gat_layer.h"

#include <torch/torch.h>

#include "graphpae/ops/attention_ops.h"
#include "graphpae/ops/dense_ops.h"
#include "graphpae/ops/tensors.h"

namespace graphpae {

namespace {

// Logits [E,H] with the logarithms of weights, if edges have any.
torch::Tensor weighted(const MessageGraph& graph, const torch::Tensor& logits) {
  return graph.weights ? logits + graph.log_weights.to(logits.dtype()).unsqueeze(-1) : logits;
}

}  // namespace

GatLayerImpl::GatLayerImpl(const Settings& settings, int64_t in, Initialiser& init)
    : attention_(settings.attention), slope_(settings.negative_slope) {
  const double relu_gain = std::sqrt(2.0);
  const int64_t width = settings.width, heads = settings.heads, head_width = width / heads;
  weight = register_parameter("weight", init.xavier_normal({in, width}, in, width, relu_gain));
  // The fans of a [1,H,C] tensor.
  attention_source =
      register_parameter("attention_source", init.xavier_normal({heads, head_width}, width, head_width, relu_gain));
  attention_target =
      register_parameter("attention_target", init.xavier_normal({heads, head_width}, width, head_width, relu_gain));
  bias = register_parameter("bias", torch::zeros({width}));
}

Encoding GatLayerImpl::forward(const GraphInput& input, const MessageGraph& graph, const torch::Tensor& z,
                               const torch::Tensor& positions, const kernels::Dropout& edge_dropout) {
  if (input.fused() && attention_ == Attention::released) {
    const ops::WorkspacePtr workspace(input.workspace, &input.workspace->aggregate);
    const auto [sums, refined] = ops::attend(graph.index, z, attention_source, attention_target, positions, bias,
                                             slope_, edge_dropout, workspace, input.threads, graph.weights);
    return {sums, positions.defined() ? refined : torch::Tensor(), false};
  }
  const int64_t n = graph.num_nodes(), heads = attention_source.size(0), head_width = attention_source.size(1);
  const torch::Tensor nodes = z.view({n, heads, head_width});
  const torch::Tensor source_logits = (nodes * attention_source).sum(-1),
                      target_logits = (nodes * attention_target).sum(-1);
  torch::Tensor attention = source_logits.index_select(0, graph.sources) + target_logits.index_select(0, graph.targets);

  torch::Tensor refined, weights;  // [E,H]
  if (attention_ == Attention::released) {
    refined = positions.defined() ? attention + positions : attention;
    weights = segment_softmax(weighted(graph, torch::leaky_relu(refined, slope_)), graph.targets, n);
  } else {
    attention = torch::leaky_relu(attention, slope_);
    refined = positions.defined() ? attention + positions : attention;
    weights = attention_ == Attention::paper ? refined : segment_softmax(weighted(graph, refined), graph.targets, n);
  }
  weights = dropout(weights, edge_dropout);
  const torch::Tensor messages = weights.unsqueeze(-1) * nodes.index_select(0, graph.sources);  // [E,H,C]
  const torch::Tensor sums = torch::zeros_like(nodes).index_add(0, graph.targets, messages);
  return {sums.view({n, heads * head_width}) + bias, positions.defined() ? refined : torch::Tensor(), false};
}

Encoding GatLayerImpl::at_targets(const GraphInput& input, const MessageGraph& graph,
                                  const std::vector<int32_t>& targets, const torch::Tensor& x,
                                  const torch::Tensor& positions, const kernels::Dropout& edge_dropout) {
  const auto [nodes, refined] =
      ops::attend_targets(graph.index, targets, x, weight, attention_source, attention_target, positions, bias, slope_,
                          edge_dropout, input.threads, graph.weights);
  return {nodes, positions.defined() ? refined : torch::Tensor(), false};
}

torch::Tensor GatLayerImpl::refine(const GraphInput& input, const MessageGraph& graph, const torch::Tensor& x,
                                   const torch::Tensor& positions) {
  const int64_t heads = attention_source.size(0);
  const auto [source, target] = ops::head_logits(weight, attention_source, attention_target, input.threads);  // [in,H]
  const torch::Tensor logits = ops::narrow_linear(x, torch::cat({source, target}, 1), input.threads);         // [N,2H]
  return ops::edge_logits(graph.index, logits.slice(1, 0, heads).contiguous(), logits.slice(1, heads).contiguous(),
                          positions, input.threads);
}

}  // namespace graphpae
