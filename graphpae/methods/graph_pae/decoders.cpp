#include "graphpae/methods/graph_pae/decoders.h"

#include <torch/torch.h>

#include "graphpae/ops/dense_ops.h"
#include "graphpae/ops/tensors.h"

namespace graphpae {

DecoderImpl::DecoderImpl(const Settings& settings, int64_t in, int64_t hidden, int64_t out_width, Initialiser& init)
    : activation_(settings.decoder_activation) {
  dense = register_module("dense", Linear(in, hidden, init));
  if (settings.decoder_norm)
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({hidden})));
  out = register_module("out", Linear(hidden, out_width, init, true));
}

torch::Tensor DecoderImpl::forward(const torch::Tensor& x) {
  const torch::Tensor hidden = activate(dense(x), activation_);
  return out(norm.is_empty() ? hidden : norm(hidden));
}

torch::Tensor DecoderImpl::hidden(const torch::Tensor& x, Threads threads) {
  const bool fused = !norm.is_empty() && (activation_ == Activation::gelu || activation_ == Activation::relu);
  if (fused) {
    return ops::activation_norm(
        x, norm->weight, norm->bias,
        activation_ == Activation::gelu ? kernels::NormActivation::kGelu : kernels::NormActivation::kRelu, threads);
  }
  const torch::Tensor active = activate(x, activation_);
  return norm.is_empty() ? active : norm(active);
}

torch::Tensor decode_pairs(Decoder& decoder, const MessageGraph& graph, const torch::Tensor& refined) {
  const torch::Tensor forward = decoder(refined.index_select(0, int64_tensor(graph.index->pair_forward())));
  const torch::Tensor backward = decoder(refined.index_select(0, int64_tensor(graph.index->pair_backward())));
  return ((forward + backward) / 2).squeeze(1);
}

torch::Tensor distance_loss(const MessageGraph& graph, const torch::Tensor& predicted, const torch::Tensor& distances,
                            const torch::Tensor& masked) {
  const torch::Tensor edges = int64_tensor(graph.index->pair_forward());  // one of each pair
  const torch::Tensor is_masked = torch::zeros({graph.num_nodes()}, predicted.options()).index_fill_(0, masked, 1);
  const auto masked_at = [&](const torch::Tensor& ends) {
    return is_masked.index_select(0, ends.index_select(0, edges));
  };
  const torch::Tensor weights = masked_at(graph.sources) + masked_at(graph.targets);
  if (edges.size(0) == 0 || weights.sum().item<double>() == 0) return predicted.sum() * 0;
  const torch::Tensor errors =
      torch::smooth_l1_loss(predicted, distances.index_select(0, edges), torch::Reduction::None);
  return (errors * weights).sum() / weights.sum();
}

}  // namespace graphpae
