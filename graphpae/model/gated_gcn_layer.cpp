#include "graphpae/model/gated_gcn_layer.h"

#include <torch/torch.h>

namespace graphpae {

GatedGcnLayerImpl::GatedGcnLayerImpl(int64_t width, Initialiser& init) {
  a1 = register_module("a1", Linear(width, width, init));
  a2 = register_module("a2", Linear(width, width, init));
  b1 = register_module("b1", Linear(width, width, init));
  b2 = register_module("b2", Linear(width, width, init));
  b3 = register_module("b3", Linear(width, width, init));
}

GatedGcnLayerImpl::Output GatedGcnLayerImpl::forward(const GraphInput& input, const torch::Tensor& nodes,
                                                     const torch::Tensor& edges, const torch::Tensor& positions) {
  const MessageGraph& graph = input.graph;
  const torch::Tensor hat =
      b1(nodes).index_select(0, graph.targets) + b2(nodes).index_select(0, graph.sources) + b3(edges);
  const torch::Tensor refined = positions.defined() ? hat + positions : hat;
  const torch::Tensor gates = torch::sigmoid(refined);
  const torch::Tensor none = torch::zeros_like(nodes);
  const torch::Tensor sums = none.index_add(0, graph.targets, gates * a2(nodes).index_select(0, graph.sources));
  const torch::Tensor totals = none.index_add(0, graph.targets, gates) + 1e-6;
  return {(a1(nodes) + sums / totals) * input.node_scale(nodes.scalar_type()), hat,
          positions.defined() ? refined : torch::Tensor()};
}

ops::GatedParameters GatedGcnLayerImpl::joined_parameters() const {
  return {torch::cat({a1->weight, a2->weight, b1->weight, b2->weight}, 1),
          torch::cat({a1->bias, a2->bias, b1->bias, b2->bias}), b3->weight, b3->bias};
}

}  // namespace graphpae
