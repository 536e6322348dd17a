// GraphMAE's decoders: one graph layer over the encoder's rows, those of masked nodes set to zero.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "graphpae/model/graph_input.h"
#include "graphpae/model/modules.h"

namespace graphpae::graphmae {

// What is decoded: nodes [N,d] of the encoder.
struct Encoded {
  const GraphInput& input;
  const torch::Tensor& nodes;
  const Masking& masking;
  const Settings& settings;
  uint64_t dropout_key;
};

// One way of decoding.
class Decoder : public torch::nn::Module {
 public:
  // Predictions [M,F] of the features of masked nodes, or [M,119] of atom types, in any precision.
  virtual torch::Tensor predict(const Encoded& encoded) = 0;
  // Mean scaled cosine error of the predictions. Fused where the input is.
  virtual torch::Tensor loss(const Encoded& encoded);
};

// For one graph: a linear map without bias, then a GAT layer with one head from d to F.
//
//   h = remask(nodes E);  x'_i = W sum_j alpha_ij h_j + bias,  alpha from LeakyReLU(a_source . W h_j + a_target . W
//   h_i)
//
// The sum is taken before the product with W, and a . W h = (W^T a) . h: only masked rows are F wide.
class GatDecoder final : public Decoder {
 public:
  GatDecoder(const Settings& settings, int64_t features, Initialiser& init);
  torch::Tensor predict(const Encoded& encoded) override;
  torch::Tensor loss(const Encoded& encoded) override;

  torch::Tensor enter;                               // E [d,d]
  torch::Tensor weight;                              // W [F,d]
  torch::Tensor attention_source, attention_target;  // [F]
  torch::Tensor bias;                                // [F]

 private:
  torch::Tensor gathered(const Encoded& encoded);  // sums of h, [M,d]
};

// For molecules: PReLU, a linear map without bias, then a GIN layer.
//
//   h = remask(prelu(nodes) E);  x'_i = W_2 relu(W_1 sum over neighbours j and i itself of (h_j + bond_ij))
class GinDecoder final : public Decoder {
 public:
  GinDecoder(const Settings& settings, const std::vector<int64_t>& bond_codes, int64_t types, Initialiser& init);
  torch::Tensor predict(const Encoded& encoded) override;

  torch::Tensor slope;                     // [1] of PReLU
  torch::Tensor enter;                     // E [d,d]
  std::vector<torch::Tensor> bond_tables;  // [values,d]; that of the first code has one more row, for an atom itself
  Linear hidden{nullptr}, out{nullptr};    // d -> 2d -> types
};

}  // namespace graphpae::graphmae
