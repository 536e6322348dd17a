// GraphMAE (Hou et al., KDD 2022): features of masked nodes are hidden, and put back by a decoder that sees the rows of
// masked nodes as zeros.
//
// The original encoder is a GAT without positions and with PReLU after every layer: use_positions no, activation prelu,
// output_activation yes, as in recipe graphmae. See docs/methods/graphmae.md.
#pragma once

#include <span>

#include "graphpae/methods/method.h"

namespace graphpae {

// What is hidden in a step, as released.
namespace graphmae {

// Orders in which nodes are taken, as three permutations.
struct Orders {
  std::vector<int32_t> nodes;   // of all N: the first int(r N) are masked
  std::vector<int32_t> masked;  // of the M masked ones: the first int((1-p) M) show the token, the last int(p M) others
  std::vector<int32_t> donors;  // of all N: the first int(p M) are shown, one after the other
};

// Masked nodes of one graph for mask ratio r and replace ratio p. Rounding can leave one masked node as it is.
Masking mask_by_orders(const Orders& orders, double mask_ratio, double replace_ratio);
Masking draw_nodes(int64_t num_nodes, double mask_ratio, double replace_ratio, const Rng& rng);

// Atoms of molecules offsets[g] .. offsets[g+1]: int(r n + 1) of each, all showing the token. The first molecule has
// number `first` in the batch.
Masking draw_atoms(std::span<const int64_t> offsets, int64_t first, double mask_ratio, const Rng& rng);

// Decoders: one graph layer over the encoder's rows, those of masked nodes set to zero.

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

}  // namespace graphmae

class GraphMae final : public Method {
 public:
  // Throws a usage error for samples of a graph: the decoder needs the neighbours of masked nodes.
  GraphMae(const Settings& settings, const InputShape& shape);

  std::vector<std::string> terms() const override { return {"loss"}; }
  std::vector<double> learn(const GraphInput& input, const LearningStep& step) override;

  // The loss of a step: the mean over masked nodes of (1 - cos)^gamma.
  torch::Tensor loss(const GraphInput& input, const Masking& masking, uint64_t dropout_key = 0);

  std::shared_ptr<graphmae::Decoder> decoder;
};

}  // namespace graphpae
