// Small building blocks: linear maps, activations, and parameters drawn by our own generator, so that a seed gives the
// same weights with every version of LibTorch.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <memory>
#include <span>

#include "graphpae/core/exchange.h"
#include "graphpae/core/rng.h"
#include "graphpae/kernels/dropout.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

// Draws initial parameters one after the other, each from a stream of its own.
class Initialiser {
 public:
  explicit Initialiser(uint64_t seed) : seed_(seed) {}
  torch::Tensor uniform(at::IntArrayRef shape, double low, double high);
  torch::Tensor normal(at::IntArrayRef shape, double deviation);
  // Xavier's normal and uniform distributions for given fans.
  torch::Tensor xavier_normal(at::IntArrayRef shape, int64_t fan_in, int64_t fan_out, double gain);
  torch::Tensor xavier_uniform(at::IntArrayRef shape, int64_t fan_in, int64_t fan_out);

 private:
  uint64_t seed_;
  uint64_t next_stream_ = 0;
};

// y = x W + b. W [in, out], b [out], both start uniform in +-1/sqrt(in). With a row per output W is [out, in]: the form
// for wide outputs.
class LinearImpl : public torch::nn::Module {
 public:
  LinearImpl(int64_t in, int64_t out, Initialiser& init, bool row_per_output = false);
  torch::Tensor forward(const torch::Tensor& x);  // [.., in] -> [.., out]

  torch::Tensor weight, bias;

 private:
  bool row_per_output_;
};
TORCH_MODULE(Linear);

// Normalises columns by the moments of the rows at hand in training, which also move the running moments by a tenth,
// and by the running moments otherwise.   y = (x - mean) / sqrt(variance + 1e-5) * weight + bias One row alone has no
// spread: it becomes the bias, and running moments stay. With an exchange, the rows at hand are those of all processes.
class BatchNormImpl : public torch::nn::Module {
 public:
  explicit BatchNormImpl(int64_t width);
  torch::Tensor forward(const torch::Tensor& x, bool training, Exchange* exchange = nullptr);  // [R,width]

  torch::Tensor weight, bias, running_mean, running_var;  // [width]
};
TORCH_MODULE(BatchNorm);

torch::Tensor activate(const torch::Tensor& x, Activation activation);

// Elements are dropped as kernels/dropout.h decides for (row, column). [N,D]
torch::Tensor dropout(const torch::Tensor& x, const kernels::Dropout& dropout);

// READOUT: row g is the mean, sum or maximum of rows offsets[g] .. offsets[g+1] of `nodes`; NaN if there are none.
// nodes [N,d], offsets [G+1] -> [G,d], with a gradient.
torch::Tensor pool(const torch::Tensor& nodes, std::span<const int64_t> offsets, Pooling pooling);

}  // namespace graphpae
