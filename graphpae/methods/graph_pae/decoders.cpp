#include "graphpae/methods/graph_pae/decoders.h"

#include <torch/torch.h>

#include "graphpae/ops/dense_ops.h"

namespace graphpae {

DecoderImpl::DecoderImpl(const Settings& settings, int64_t in, int64_t hidden, int64_t out_width, Initialiser& init)
    : activation_(settings.decoder_activation) {
  dense = register_module("dense", Linear(in, hidden, init));
  if (settings.decoder_norm) norm = register_module("norm", Norm(hidden));
  out = register_module("out", OutputLinear(hidden, out_width, init));
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
  const auto edges = [](std::span<const int32_t> values) {
    return torch::from_blob(const_cast<int32_t*>(values.data()), {static_cast<int64_t>(values.size())}, torch::kInt32)
        .to(torch::kInt64);
  };
  const torch::Tensor forward = decoder(refined.index_select(0, edges(graph.index->pair_forward())));
  const torch::Tensor backward = decoder(refined.index_select(0, edges(graph.index->pair_backward())));
  return ((forward + backward) / 2).squeeze(1);
}

}  // namespace graphpae
