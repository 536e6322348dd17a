// GraphMAE (Hou et al., KDD 2022): features of masked nodes are hidden, and put back by a decoder that sees the rows of
// masked nodes as zeros.
//
//   masking_draw.cpp   which nodes are masked, and what they show
//   decoder.h          re-mask, one graph layer, the loss
//
// The original encoder is a GAT without positions and with PReLU after every layer: use_positions no, activation prelu,
// output_activation yes, as in recipe graphmae. See docs/methods/graphmae.md.
#pragma once

#include <span>

#include "graphpae/methods/graphmae/decoder.h"
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
