#include "graphpae/kernels/cosine_error.h"

#include <algorithm>
#include <cmath>

#include "graphpae/kernels/dense_product.h"
#include "graphpae/kernels/narrow_product.h"
#include "graphpae/kernels/row_ops.h"
#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/cosine_error.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

// The dot product in float64.
double DotRow(const float* a, const float* b, int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> half;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  int64_t j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    const auto a0 = hn::PromoteTo(d, hn::LoadU(half, a + j)), a1 = hn::PromoteTo(d, hn::LoadU(half, a + j + lanes));
    const auto b0 = hn::PromoteTo(d, hn::LoadU(half, b + j)), b1 = hn::PromoteTo(d, hn::LoadU(half, b + j + lanes));
    sum0 = hn::MulAdd(a0, b0, sum0);
    sum1 = hn::MulAdd(a1, b1, sum1);
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; j < n; ++j) total += static_cast<double>(a[j]) * b[j];
  return total;
}

// z = c1 z + c2 t; t may be null.
void ScaleAddRow(float* z, float c1, const float* t, float c2, int64_t n) {
  for_columns(0, n, [&](auto d, int64_t j) HWY_ATTR {
    auto v = hn::Mul(hn::LoadU(d, z + j), hn::Set(d, c1));
    if (t != nullptr) v = hn::MulAdd(hn::LoadU(d, t + j), hn::Set(d, c2), v);
    hn::StoreU(v, d, z + j);
  });
}

// q = c1 q + c2 tw, then tw = c2 h and scaled = c1 h.
void CombineRow(const float* h, float c1, float c2, int64_t n, float* q, float* tw, float* scaled) {
  for_columns(0, n, [&](auto d, int64_t j) HWY_ATTR {
    const auto a = hn::Set(d, c1), b = hn::Set(d, c2), v = hn::LoadU(d, h + j);
    hn::StoreU(hn::MulAdd(hn::LoadU(d, q + j), a, hn::Mul(hn::LoadU(d, tw + j), b)), d, q + j);
    hn::StoreU(hn::Mul(v, b), d, tw + j);
    hn::StoreU(hn::Mul(v, a), d, scaled + j);
  });
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(DotRow);
HWY_EXPORT(ScaleAddRow);
HWY_EXPORT(CombineRow);

namespace {

double dot_row(const float* a, const float* b, int64_t n) { return HWY_DYNAMIC_DISPATCH(DotRow)(a, b, n); }

// The error of one row and the factors of its gradient: d_z = c1 z + c2 t.
struct RowError {
  double loss = 0;
  float c1 = 0, c2 = 0;
};

RowError row_error(double z_square, double z_dot_t, double t_square, double gamma, int64_t m) {
  constexpr double kLeastLength = 1e-12;
  const double length = std::sqrt(std::max(z_square, 0.0));  // the Gram route may round a zero to below zero
  const double z_length = std::max(length, kLeastLength), t_length = std::max(std::sqrt(t_square), kLeastLength);
  const double cosine = z_dot_t / (z_length * t_length);
  const double distance = std::max(1 - cosine, 0.0);
  const double slope = gamma / static_cast<double>(m) * std::pow(distance, gamma - 1);
  RowError result;
  result.loss = std::pow(distance, gamma);
  if (length > kLeastLength) result.c1 = static_cast<float>(slope * cosine / (z_length * z_length));
  // A target of zeros has no gradient, and 1 / 1e-12 may overflow in float32.
  if (t_square > 0) result.c2 = static_cast<float>(-slope / (z_length * t_length));
  return result;
}

double ordered_sum(const Buffer<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// Z = H W + b into workspace.predictions, edit(m, z) for every row, which turns it into its gradient, then the
// gradients that follow from it.
template <class EditRow>
void direct_route(const float* h, int64_t m, int64_t d, int64_t f, const float* w_t, const float* b, float* d_h,
                  float* d_w_t, float* d_b, ErrorWorkspace& workspace, Threads threads, const EditRow& edit) {
  workspace.predictions.resize(m * f);
  float* z = workspace.predictions.data();
  dense_product(plain(h, d), transposed(w_t, d), m, f, d, z, f, {.bias = b}, threads);
  for_row_ranges(m, threads, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) edit(i, z + i * f);
  });
  column_sums(z, m, f, d_b, threads);
  dense_product(plain(z, f), plain(w_t, d), m, d, f, d_h, d, {}, threads);
  dense_product(transposed(z, f), plain(h, d), f, d, m, d_w_t, d, {}, threads);
}

void direct_cosine(const float* h, int64_t m, int64_t d, const float* w_t, const float* b, const Features& features,
                   std::span<const int32_t> nodes, double gamma, float* d_h, float* d_w_t, float* d_b,
                   ErrorWorkspace& workspace, Threads threads) {
  const int64_t f = features.columns();
  direct_route(h, m, d, f, w_t, b, d_h, d_w_t, d_b, workspace, threads, [&](int64_t i, float* z) {
    const int32_t node = nodes[i];
    const double z_square = dot_row(z, z, f);
    if (!features.is_sparse()) {
      const float* t = features.dense_row(node).data();
      const RowError error = row_error(z_square, dot_row(z, t, f), dot_row(t, t, f), gamma, m);
      workspace.losses[i] = error.loss;
      HWY_DYNAMIC_DISPATCH(ScaleAddRow)(z, error.c1, t, error.c2, f);
      return;
    }
    const SparseRow t = features.sparse_row(node);
    double z_dot_t = 0, t_square = 0;
    for (size_t e = 0; e < t.columns.size(); ++e) {
      z_dot_t += static_cast<double>(z[t.columns[e]]) * t.values[e];
      t_square += static_cast<double>(t.values[e]) * t.values[e];
    }
    const RowError error = row_error(z_square, z_dot_t, t_square, gamma, m);
    workspace.losses[i] = error.loss;
    HWY_DYNAMIC_DISPATCH(ScaleAddRow)(z, error.c1, nullptr, 0, f);
    for (size_t e = 0; e < t.columns.size(); ++e) z[t.columns[e]] += error.c2 * t.values[e];
  });
}

void gram_cosine(const float* h, int64_t m, int64_t d, const float* w_t, const float* b, const Features& features,
                 std::span<const int32_t> nodes, double gamma, float* d_h, float* d_w_t, float* d_b,
                 ErrorWorkspace& workspace, Threads threads) {
  const int64_t f = features.columns();
  CorruptedRows& targets = workspace.targets;
  build_corrupted_rows(features, nodes, {}, targets, threads);
  workspace.gram.resize(d * d);
  workspace.weighted.resize(m * d);
  workspace.scaled.resize(m * d);
  workspace.row_factors.resize(2 * m);
  workspace.vectors.resize(2 * d);
  float* gram = workspace.gram.data();
  float* weighted = workspace.weighted.data();
  float* scaled = workspace.scaled.data();
  float* c1 = workspace.row_factors.data();
  float* c2 = c1 + m;
  float* w_b = workspace.vectors.data();
  float* h_c1 = w_b + d;

  // |z|^2 = h (W W^T) h^T + 2 h.(W b) + b.b and z.t = h.(W t) + b.t. d_h holds h W W^T + W b at first.
  symmetric_product(transposed(w_t, d), plain(w_t, d), d, f, gram, d, threads);
  narrow_product_backward(w_t, nullptr, b, f, d, 1, nullptr, w_b, threads);
  csr_product(targets, w_t, d, weighted, threads);
  dense_product(plain(h, d), plain(gram, d), m, d, d, d_h, d, {.bias = w_b}, threads);
  const double b_square = dot_row(b, b, f);
  for_row_ranges(m, threads, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const float* row = h + i * d;
      const double z_square = dot_row(row, d_h + i * d, d) + dot_row(row, w_b, d) + b_square;
      double z_dot_t = dot_row(row, weighted + i * d, d), t_square = 0;
      for (int64_t e = targets.offsets[i]; e < targets.offsets[i + 1]; ++e) {
        const double value = targets.values[e];
        z_dot_t += value * b[targets.indices[e]];
        t_square += value * value;
      }
      const RowError error = row_error(z_square, z_dot_t, t_square, gamma, m);
      workspace.losses[i] = error.loss;
      c1[i] = error.c1;
      c2[i] = error.c2;
      HWY_DYNAMIC_DISPATCH(CombineRow)(row, error.c1, error.c2, d, d_h + i * d, weighted + i * d, scaled + i * d);
    }
  });

  // d_W = (H^T diag(c1) H) W + (H^T c1) b + sum of c2 h t; `weighted` now holds the rows c2 h.
  column_sums(scaled, m, d, h_c1, threads);
  symmetric_product(transposed(h, d), plain(scaled, d), d, m, gram, d, threads);
  csc_product(targets, weighted, d, d_w_t, threads, {.left = b, .right = h_c1});
  dense_product(plain(w_t, d), plain(gram, d), f, d, d, d_w_t, d, {.accumulate = true}, threads);

  narrow_product(w_t, h_c1, f, d, 1, d_b, threads);
  double c1_sum = 0;
  for (int64_t i = 0; i < m; ++i) c1_sum += c1[i];
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t j = 0; j < f; ++j) {
    double sum = d_b[j] + c1_sum * b[j];
    for (int64_t e = targets.column_offsets[j]; e < targets.column_offsets[j + 1]; ++e) {
      const int32_t row = targets.column_rows[e];
      sum += static_cast<double>(c2[row]) * targets.column_values[e];
    }
    d_b[j] = static_cast<float>(sum);
  }
}

void clear_gradients(int64_t d, int64_t f, float* d_w_t, float* d_b) {
  std::fill_n(d_w_t, f * d, 0.0f);
  std::fill_n(d_b, f, 0.0f);
}

}  // namespace

double error_route_cost(ErrorRoute route, int64_t m, int64_t d, int64_t f, int64_t target_nonzeros) {
  // A symmetric product costs about 0.65 of a full one; a multiplication with sparse features as much as 5 dense ones.
  constexpr double kSymmetric = 0.65, kSparse = 5;
  const double rows = static_cast<double>(m), width = static_cast<double>(d), features = static_cast<double>(f);
  if (route == ErrorRoute::kDirect) return 3 * rows * features * width;
  return (1 + kSymmetric) * (rows + features) * width * width +
         2 * kSparse * static_cast<double>(target_nonzeros) * width;
}

double cosine_error(const float* h, int64_t d, const float* w_t, const float* b, const Features& features,
                    std::span<const int32_t> nodes, double gamma, float* d_h, float* d_w_t, float* d_b,
                    ErrorWorkspace& workspace, Threads threads, ErrorRoute route) {
  const int64_t m = static_cast<int64_t>(nodes.size()), f = features.columns();
  if (m == 0) {
    clear_gradients(d, f, d_w_t, d_b);
    return 0;
  }
  if (!features.is_sparse()) {
    route = ErrorRoute::kDirect;
  } else if (route == ErrorRoute::kAutomatic) {
    int64_t nonzeros = 0;
    for (const int32_t node : nodes) nonzeros += features.offsets()[node + 1] - features.offsets()[node];
    const bool gram = error_route_cost(ErrorRoute::kGram, m, d, f, nonzeros) <
                      error_route_cost(ErrorRoute::kDirect, m, d, f, nonzeros);
    route = gram ? ErrorRoute::kGram : ErrorRoute::kDirect;
  }
  workspace.losses.resize(m);
  if (route == ErrorRoute::kGram) {
    gram_cosine(h, m, d, w_t, b, features, nodes, gamma, d_h, d_w_t, d_b, workspace, threads);
  } else {
    direct_cosine(h, m, d, w_t, b, features, nodes, gamma, d_h, d_w_t, d_b, workspace, threads);
  }
  return ordered_sum(workspace.losses) / static_cast<double>(m);
}

double squared_error(const float* h, int64_t d, const float* w_t, const float* b, const Features& features,
                     std::span<const int32_t> nodes, float* d_h, float* d_w_t, float* d_b, ErrorWorkspace& workspace,
                     Threads threads) {
  const int64_t m = static_cast<int64_t>(nodes.size()), f = features.columns();
  if (m == 0 || f == 0) {
    clear_gradients(d, f, d_w_t, d_b);
    std::fill_n(d_h, m * d, 0.0f);
    return 0;
  }
  const double elements = static_cast<double>(m) * static_cast<double>(f);
  workspace.losses.resize(m);
  direct_route(h, m, d, f, w_t, b, d_h, d_w_t, d_b, workspace, threads, [&](int64_t i, float* z) {
    const int32_t node = nodes[i];
    if (features.is_sparse()) {
      const SparseRow t = features.sparse_row(node);
      for (size_t e = 0; e < t.columns.size(); ++e) z[t.columns[e]] -= t.values[e];
    } else {
      HWY_DYNAMIC_DISPATCH(ScaleAddRow)(z, 1, features.dense_row(node).data(), -1, f);
    }
    workspace.losses[i] = dot_row(z, z, f);
    HWY_DYNAMIC_DISPATCH(ScaleAddRow)(z, static_cast<float>(2 / elements), nullptr, 0, f);
  });
  return ordered_sum(workspace.losses) / elements;
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
