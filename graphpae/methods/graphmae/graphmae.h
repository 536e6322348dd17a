// GraphMAE (Hou et al., KDD 2022): features of masked nodes are hidden, and put back by a decoder that sees the rows of
// masked nodes as zeros.
//
//   masking_draw.h   which nodes are masked, and what they show
//   decoder.h        re-mask, one graph layer, the loss
//
// The original encoder is a GAT without positions and with PReLU after every layer: use_positions no, activation prelu,
// output_activation yes, as in recipe graphmae. See docs/methods/graphmae.md.
#pragma once

#include "graphpae/methods/graphmae/decoder.h"
#include "graphpae/methods/method.h"

namespace graphpae {

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
