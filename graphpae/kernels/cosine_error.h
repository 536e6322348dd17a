// The error of linear predictions of feature rows, with its gradients.
//
// Predictions are z_m = h_m W + b, targets t_m = features[nodes[m],:]. The weights are given as W_t [F,D] (one row per
// feature, as PyTorch stores a linear layer): then the sparse sums over features and over nodes both run along rows.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/buffer.h"
#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/sparse_product.h"

namespace graphpae::kernels {

// How cosine_error is computed; both are exact. kDirect forms all predictions [M,F]. kGram (sparse features only) never
// does: it needs only |z|^2 and z.t, which follow from W W^T [D,D] and the non-zeros of t.
enum class ErrorRoute { kAutomatic, kDirect, kGram };

// Scratch that is kept from step to step.
struct ErrorWorkspace {
  Buffer<float> predictions;  // direct: [M,F], then their gradient
  Buffer<double> losses;      // [M]
  CorruptedRows targets;      // Gram: the target rows and their transpose
  Buffer<float> gram;         // Gram: [D,D]
  Buffer<float> weighted;     // Gram: [M,D]
  Buffer<float> scaled;       // Gram: [M,D]
  Buffer<float> row_factors;  // Gram: [2,M]
  Buffer<float> vectors;      // Gram: [2,D]
};

// What a route costs, in multiplications of a dense product.
double error_route_cost(ErrorRoute route, int64_t m, int64_t d, int64_t f, int64_t target_nonzeros);

// mean over m of (1 - cos(z_m, t_m))^gamma, gamma >= 1, where lengths are at least 1e-12. h is [M,D], w_t [F,D], b [F],
// nodes [M]. Sets the gradients d_h [M,D], d_w_t [F,D], d_b [F] of the returned value. Zero if M = 0.
double cosine_error(const float* h, int64_t d, const float* w_t, const float* b, const Features& features,
                    std::span<const int32_t> nodes, double gamma, float* d_h, float* d_w_t, float* d_b,
                    ErrorWorkspace& workspace, Threads threads, ErrorRoute route = ErrorRoute::kAutomatic);

// The same with the mean over all M * F elements of (z - t)^2.
double squared_error(const float* h, int64_t d, const float* w_t, const float* b, const Features& features,
                     std::span<const int32_t> nodes, float* d_h, float* d_w_t, float* d_b, ErrorWorkspace& workspace,
                     Threads threads);

}  // namespace graphpae::kernels
