// Gated graph convolution with positions, for molecules; all states are d wide.
//
//   hat_ij = B1 h_i + B2 h_j + B3 e_ij                     the edge state handed on
//   gate_ij = sigmoid(hat_ij + P_ij)                       hat_ij + P_ij is P^(l+1)_ij
//   h'_i = (A1 h_i + sum_j gate_ij * A2 h_j / (sum_j gate_ij + 1e-6)) / sqrt(nodes of the graph)
#pragma once

#include <torch/nn/module.h>

#include "graphpae/model/graph_input.h"
#include "graphpae/model/modules.h"
#include "graphpae/ops/gated_ops.h"

namespace graphpae {

class GatedGcnLayerImpl : public torch::nn::Module {
 public:
  GatedGcnLayerImpl(int64_t width, Initialiser& init);

  struct Output {
    torch::Tensor nodes;      // [N,d]
    torch::Tensor edges;      // [E,d]
    torch::Tensor positions;  // [E,d]
  };
  Output forward(const GraphInput& input, const torch::Tensor& nodes, const torch::Tensor& edges,
                 const torch::Tensor& positions);

  // A1, A2, B1, B2 side by side, for fused operations.
  ops::GatedParameters joined_parameters() const;

  Linear a1{nullptr}, a2{nullptr}, b1{nullptr}, b2{nullptr}, b3{nullptr};
};
TORCH_MODULE(GatedGcnLayer);

}  // namespace graphpae
