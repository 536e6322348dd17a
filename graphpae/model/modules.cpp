#include "graphpae/model/modules.h"

#include <torch/torch.h>

#include <cmath>
#include <vector>

#include "graphpae/ops/gated_ops.h"

namespace graphpae {

torch::Tensor Initialiser::uniform(at::IntArrayRef shape, double low, double high) {
  const Rng rng(seed_, next_stream_++);
  const torch::Tensor tensor = torch::empty(shape, torch::kFloat32);
  float* values = tensor.data_ptr<float>();
  for (int64_t n = 0; n < tensor.numel(); ++n) values[n] = static_cast<float>(low + (high - low) * rng.uniform(n));
  return tensor;
}

torch::Tensor Initialiser::normal(at::IntArrayRef shape, double deviation) {
  const Rng rng(seed_, next_stream_++);
  const torch::Tensor tensor = torch::empty(shape, torch::kFloat32);
  float* values = tensor.data_ptr<float>();
  for (int64_t n = 0; n < tensor.numel(); ++n) values[n] = static_cast<float>(deviation * rng.normal(n));
  return tensor;
}

torch::Tensor Initialiser::xavier_normal(at::IntArrayRef shape, int64_t fan_in, int64_t fan_out, double gain) {
  return normal(shape, gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out)));
}

torch::Tensor Initialiser::xavier_uniform(at::IntArrayRef shape, int64_t fan_in, int64_t fan_out) {
  const double bound = std::sqrt(6.0 / static_cast<double>(fan_in + fan_out));
  return uniform(shape, -bound, bound);
}

LinearImpl::LinearImpl(int64_t in, int64_t out, Initialiser& init, bool row_per_output)
    : row_per_output_(row_per_output) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  const std::vector<int64_t> shape = row_per_output ? std::vector{out, in} : std::vector{in, out};
  weight = register_parameter("weight", init.uniform(shape, -bound, bound));
  bias = register_parameter("bias", init.uniform({out}, -bound, bound));
}

torch::Tensor LinearImpl::forward(const torch::Tensor& x) {
  return torch::addmm(bias, x, row_per_output_ ? weight.t() : weight);
}

BatchNormImpl::BatchNormImpl(int64_t width) {
  weight = register_parameter("weight", torch::ones({width}));
  bias = register_parameter("bias", torch::zeros({width}));
  running_mean = register_buffer("running_mean", torch::zeros({width}));
  running_var = register_buffer("running_var", torch::ones({width}));
}

torch::Tensor BatchNormImpl::forward(const torch::Tensor& x, bool training, Exchange* exchange) {
  if (training && exchange != nullptr) {
    const torch::Tensor wide = x.to(torch::kFloat64), count = torch::full({1}, double(x.size(0)), torch::kFloat64);
    const auto sums = ops::sum_over_processes(torch::cat({wide.sum(0), wide.square().sum(0), count}), *exchange)
                          .split_with_sizes({x.size(1), x.size(1), 1});
    const torch::Tensor mean = sums[0] / sums[2], variance = (sums[1] / sums[2] - mean.square()).clamp_min(0);
    {
      const torch::NoGradGuard no_grad;
      running_mean += 0.1 * (mean - running_mean);
      running_var += 0.1 * (variance * sums[2] / (sums[2] - 1) - running_var);
    }
    return ((wide - mean) / (variance + 1e-5).sqrt() * weight + bias).to(x.scalar_type());
  }
  if (training && x.size(0) < 2) return x * 0 + bias;
  return torch::batch_norm(x, weight, bias, running_mean, running_var, training, 0.1, 1e-5, false);
}

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::relu: return torch::relu(x);
    case Activation::gelu: return torch::gelu(x);
    default: return torch::elu(x);
  }
}

torch::Tensor dropout(const torch::Tensor& x, const kernels::Dropout& dropout) {
  if (!dropout.active()) return x;
  const int64_t rows = x.size(0), columns = x.numel() / std::max<int64_t>(rows, 1);
  const torch::Tensor mask = torch::empty({rows, columns}, torch::kFloat32);
  float* values = mask.data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row) {
    const uint32_t hash = kernels::dropout_row_hash(dropout, row);
    for (int64_t column = 0; column < columns; ++column, ++values)
      *values = kernels::keeps(dropout, hash, static_cast<uint32_t>(column)) ? dropout.scale() : 0.0f;
  }
  return x * mask.view(x.sizes()).to(x.scalar_type());
}

}  // namespace graphpae
