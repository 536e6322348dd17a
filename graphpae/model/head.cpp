#include "graphpae/model/head.h"

#include <torch/torch.h>

#include "graphpae/ops/dense_ops.h"

namespace graphpae {

HeadImpl::HeadImpl(HeadKind kind, int64_t in, int64_t out, Initialiser& init) {
  if (kind == HeadKind::mlp) hidden = register_module("hidden", Linear(in, in, init));
  output = register_module("output", Linear(in, out, init));
}

torch::Tensor HeadImpl::forward(const torch::Tensor& rows, bool fused, Threads threads) {
  const auto apply = [&](Linear& linear, const torch::Tensor& x) {
    return fused ? ops::linear(x.contiguous(), linear->weight, linear->bias, threads) : linear(x);
  };
  return apply(output, hidden.is_empty() ? rows : torch::relu(apply(hidden, rows)));
}

}  // namespace graphpae
