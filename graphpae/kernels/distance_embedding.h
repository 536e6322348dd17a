// A distance lifted to one number per head: Gaussian functions of it, then a small perceptron.
//
//   g_k = exp(-0.5 ((p - mean_k) / s_k)^2) [/ (sqrt(2 pi) s_k)],  s_k = |std_k| + 1e-5,  k < G
//   out = gelu(g W1 + b1) W2 + b2
//
// Everything is float32 and row-major. Distances go through in blocks that stay in the cache; the backward pass
// computes g and the hidden layer again, so nothing of size [M,G] is stored. Gradients are sums over a fixed number of
// parts of the distances, added in order: results do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"

namespace graphpae::kernels {

// sqrt(2 pi) with pi = 3.14159: the recorded numbers of the released implementation ask for this value, 4e-7 off.
inline constexpr double kGaussianFactor = 2.5066272160016134;

struct DistanceEmbedding {
  int64_t kernels;       // G
  int64_t hidden;        // K
  int64_t heads;         // H
  bool density;          // whether g has the factor 1 / (sqrt(2 pi) s)
  const float* means;    // [G]
  const float* stds;     // [G]
  const float* weight1;  // [G,K]
  const float* bias1;    // [K]
  const float* weight2;  // [K,H]
  const float* bias2;    // [H]
};

// Into how many parts of `count` distances, each with sums of its own, gradients are divided: fewer where the sums are
// large and the distances few.
inline int64_t gradient_parts(int64_t count, int64_t heads) {
  constexpr int64_t kMost = 32, kWide = 64, kLeast = 512;
  if (heads < kWide) return kMost;
  const int64_t parts = count / kLeast;
  return parts < 1 ? 1 : parts < kMost ? parts : kMost;
}

// Of the same shapes; all are written, none is added to.
struct DistanceEmbeddingGradients {
  float* means;
  float* stds;
  float* weight1;
  float* bias1;
  float* weight2;
  float* bias2;
};

// out [M,H] for distances [M].
void distance_embedding_forward(const DistanceEmbedding& embedding, const float* distances, int64_t count, float* out,
                                Threads threads);

// The gradients of the parameters for d_out [M,H]. There is none of the distances.
void distance_embedding_backward(const DistanceEmbedding& embedding, const float* distances, int64_t count,
                                 const float* d_out, const DistanceEmbeddingGradients& gradients, Threads threads);

}  // namespace graphpae::kernels
