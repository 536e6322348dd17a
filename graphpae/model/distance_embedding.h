// Distance embedding, Eq. (5): a scalar distance is lifted by Gaussian basis functions and a two-layer network.
//
//   G_k(p) = exp(-(p - mu_k)^2 / 2 sigma_k^2) / (sqrt(2 pi) sigma_k),   sigma_k = |s_k| + 1e-5
//   P^(0) = W2 gelu(W1 [G_1(p) .. G_128(p)] + b1) + b2
//
// The paper writes it without the factor and with one sigma: settings gaussian_density, shared_deviation.
#pragma once

#include <torch/nn/module.h>

#include "graphpae/model/graph_input.h"
#include "graphpae/model/modules.h"
#include "graphpae/ops/position_ops.h"

namespace graphpae {

// P^(0) of the edges. The rows of molecules are shared by edges: row_of_edge says which is whose.
struct EmbeddedDistances {
  torch::Tensor rows;       // [E,width], or fewer rows with a map; undefined without positions
  ops::RowMap row_of_edge;  // [E]; null: its own
};

class DistanceEmbeddingImpl : public torch::nn::Module {
 public:
  // width: heads for GAT, d_h for GatedGCN.
  DistanceEmbeddingImpl(const Settings& settings, int64_t width, Initialiser& init);

  torch::Tensor forward(const torch::Tensor& distances);  // [E] -> [E,width]

  // The same of plain numbers by fused operations, without gradients. values [M] -> [M,width]
  torch::Tensor embed_values(const std::vector<float>& values, Threads threads);

  // Clean and corrupted distances of one graph together; fused operations embed each distinct distance once.
  // `corrupted` may be undefined. [E] each
  struct Pair {
    EmbeddedDistances clean, corrupted;
  };
  Pair embed(const GraphInput& input, const torch::Tensor& clean, const torch::Tensor& corrupted);

  torch::Tensor means, deviations;  // [G]; deviations [1] if shared
  Linear lift{nullptr}, project{nullptr};

 private:
  // Whether fused operations do: a deviation per Gaussian.
  bool has_table() const { return deviations.size(0) == means.size(0); }
  ops::EmbeddingParameters parameters_for_ops() const;

  bool density_;
};
TORCH_MODULE(DistanceEmbedding);

}  // namespace graphpae
