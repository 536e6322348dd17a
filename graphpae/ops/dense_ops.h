// Fused operations on rows of matrices, with gradients. All tensors are float32 and contiguous. The plain twin of each
// is in its comment.
#pragma once

#include <torch/types.h>

#include <vector>

#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"
#include "graphpae/kernels/gelu_norm.h"

namespace graphpae::ops {

// x [N,K], weight [K,D], bias [D] or undefined -> [N,D].   torch::mm(x, weight) + bias
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias, Threads threads);

// For a D of a few columns.   torch::mm(x, weight)
torch::Tensor narrow_linear(const torch::Tensor& x, const torch::Tensor& weight, Threads threads);

// x [N,D] -> [N,D].   dropout(torch::elu(x))
torch::Tensor elu_dropout(const torch::Tensor& x, const kernels::Dropout& dropout, Threads threads);

// x [N,D], slope [1] -> dropout(x > 0 ? x : slope x).   dropout(torch::prelu(x, slope))
torch::Tensor prelu_dropout(const torch::Tensor& x, const torch::Tensor& slope, const kernels::Dropout& dropout,
                            Threads threads);

// Rows of x [N,D] at `rows` [M], which are distinct -> [M,D].   x.index_select(0, rows)
torch::Tensor gather_rows(const torch::Tensor& x, std::vector<int32_t> rows, Threads threads);

// x [M,D], weight and bias [D] -> [M,D].   layer_norm(activation(x))
torch::Tensor activation_norm(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                              kernels::NormActivation activation, Threads threads);

}  // namespace graphpae::ops
