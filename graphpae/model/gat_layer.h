// GAT layer with positions, Eq. (7), (8) and (10), for H heads of width C, D = H C.
//
//   z_j = W x_j
//   logit_ij = a_source . z_j + a_target . z_i + P_ij        per head; this is P^(l+1)_ij
//   alpha_ij = softmax over j of LeakyReLU(logit_ij), plus log w_ij if edges have weights
//   x'_i = sum_j alpha_ij z_j + bias
//
// Settings attention=paper_softmax and attention=paper follow the paper's text instead, see docs/deviations.md.
#pragma once

#include <torch/nn/module.h>

#include "graphpae/model/encoder.h"

namespace graphpae {

class GatLayerImpl : public torch::nn::Module {
 public:
  GatLayerImpl(const Settings& settings, int64_t in, Initialiser& init);

  // Along the edges of `graph`, that of the input or of one of its layers. z [N,D] are projected nodes, z = x W;
  // positions [E,H] may be undefined. -> [N,D], [E,H]
  Encoding forward(const GraphInput& input, const MessageGraph& graph, const torch::Tensor& z,
                   const torch::Tensor& positions, const kernels::Dropout& edge_dropout);

  // The refined positions alone, from x [N,in]: a . W x = (W^T a) . x needs neither W x nor the sums. Fused only.
  torch::Tensor refine(const GraphInput& input, const MessageGraph& graph, const torch::Tensor& x,
                       const torch::Tensor& positions);

  // forward() at `targets` [M] alone, from x [N,in]: nodes [M,D], positions of the edges into them. Fused only.
  Encoding at_targets(const GraphInput& input, const MessageGraph& graph, const std::vector<int32_t>& targets,
                      const torch::Tensor& x, const torch::Tensor& positions, const kernels::Dropout& edge_dropout);

  torch::Tensor weight;            // [in,D]
  torch::Tensor attention_source;  // [H,C]
  torch::Tensor attention_target;  // [H,C]
  torch::Tensor bias;              // [D]

 private:
  Attention attention_;
  double slope_;
};
TORCH_MODULE(GatLayer);

}  // namespace graphpae
