// The decoders, Section 4.3: linear, activation, layer norm, linear; and the position loss. The feature loss is one of
// methods/method.h.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/normalization.h>

#include "graphpae/methods/graph_pae/corrupt.h"
#include "graphpae/model/graph_input.h"
#include "graphpae/model/modules.h"

namespace graphpae {

class DecoderImpl : public torch::nn::Module {
 public:
  DecoderImpl(const Settings& settings, int64_t in, int64_t hidden, int64_t out, Initialiser& init);
  torch::Tensor forward(const torch::Tensor& x);  // [R,in] -> [R,out]
  // Activation and norm of dense(x), fused where there is a fused form. [R,hidden] -> [R,hidden]
  torch::Tensor hidden(const torch::Tensor& dense, Threads threads);

  Linear dense{nullptr};               // in -> hidden
  torch::nn::LayerNorm norm{nullptr};  // empty if setting decoder_norm is off
  Linear out{nullptr};                 // hidden -> out

  Activation activation() const { return activation_; }

 private:
  Activation activation_;
};
TORCH_MODULE(Decoder);

// P': the decoded distance of every undirected pair, the mean of both directions. refined [E,width] -> [pairs]
torch::Tensor decode_pairs(Decoder& decoder, const MessageGraph& graph, const torch::Tensor& refined);

// Eq. (16): mean Huber loss (delta 1) over the edges whose source is masked, self loops left out; 0 if there are none.
// predicted [pairs], distances [E], masked [M] int64 -> scalar
torch::Tensor distance_loss(const MessageGraph& graph, const torch::Tensor& predicted, const torch::Tensor& distances,
                            const torch::Tensor& masked);

}  // namespace graphpae
