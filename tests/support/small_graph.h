// Small graphs for tests of the model.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "graphpae/core/rng.h"
#include "graphpae/model/inputs.h"
#include "graphpae/model/named_tensors.h"

namespace graphpae::test {

// A random graph with sparse non-negative features; the last node is isolated, node 0 is a hub.
inline Graph small_graph(int32_t nodes, int64_t features, uint64_t seed = 1) {
  const Rng rng(seed);
  Buffer<Edge> edges;
  uint64_t draw = 0;
  for (int32_t i = 1; i + 1 < nodes; ++i) {
    if (rng.uniform(draw++) < 0.5) edges.push_back({0, i});
    for (int32_t j = 1; j < i; ++j) {
      if (rng.uniform(draw++) < 4.0 / nodes) edges.push_back({j, i});
    }
  }
  Buffer<float> values(static_cast<size_t>(nodes * features));
  for (float& value : values) value = rng.uniform(draw++) < 0.2 ? static_cast<float>(1 + rng.below(draw++, 3)) : 0.0f;
  GraphParts parts;
  parts.num_nodes = nodes;
  parts.edges.push_back(std::move(edges));
  parts.features = Features::compact(nodes, features, std::move(values));
  return Graph(std::move(parts));
}

inline Settings small_settings() {
  Settings settings;
  settings.layers = 2;
  settings.width = 16;
  settings.heads = 4;
  settings.gaussians = 12;
  settings.eigenvectors = 5;
  settings.gaussian_range = 1;
  settings.mask_ratio = 0.4;
  settings.noise = 0.05;
  settings.alpha = 0.5;
  settings.epochs = 10;
  settings.lr = 1e-2;
  settings.seed = 3;
  return settings;
}

// The same input in float64, for the plain operations.
inline GraphInput in_float64(const Graph& graph, const Settings& settings) {
  InputOptions options;
  options.kernels = Kernels::reference;
  GraphInput input = make_input(graph, settings, options);
  input.features = NodeFeatures(input.features.dense().to(torch::kFloat64));
  if (settings.use_positions)
    input.distances = edge_distances(input.graph, input.positions, torch::kFloat64, options.threads);
  return input;
}

inline bool same_bits(const torch::Tensor& a, const torch::Tensor& b) {
  return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
         std::memcmp(a.contiguous().data_ptr(), b.contiguous().data_ptr(), a.nbytes()) == 0;
}

// The parameters and buffers of two modules.
inline void expect_same(const torch::nn::Module& a, const torch::nn::Module& b) {
  const NamedTensors x = named_tensors(a), y = named_tensors(b);
  ASSERT_EQ(x.size(), y.size());
  for (size_t k = 0; k < x.size(); ++k) EXPECT_TRUE(same_bits(x[k].second, y[k].second)) << x[k].first;
}

inline double largest_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).abs().max().item<double>();
}

}  // namespace graphpae::test
