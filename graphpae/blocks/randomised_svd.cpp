#include "graphpae/blocks/randomised_svd.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "graphpae/core/rng.h"
#include "graphpae/kernels/dense_product.h"
#include "graphpae/kernels/sparse_product.h"
#include "graphpae/positions/symmetric_eigen.h"

namespace graphpae {
namespace {

constexpr int64_t kMore = 8;  // columns beyond the rank, so that the last ones are good
constexpr int64_t kPowerIterations = 2;
constexpr double kSmallestShare = 1e-6;           // of the largest eigenvalue: below it is rounding
constexpr uint64_t kProjectionStream = 0x737664;  // "svd"

SymmetricEigen gram_eigen(const Buffer<float>& y, int64_t n, int64_t r, Threads threads) {
  Buffer<float> gram(static_cast<size_t>(r * r));
  kernels::symmetric_product(kernels::transposed(y.data(), r), kernels::plain(y.data(), r), r, n, gram.data(), r,
                             threads);
  return symmetric_eigen({gram.begin(), gram.end()}, r, threads);
}

// y [n,r] times a matrix [r,c].
void rotate(Buffer<float>& y, int64_t n, int64_t r, const std::vector<float>& matrix, int64_t c, Threads threads) {
  Buffer<float> rotated(static_cast<size_t>(n * c));
  kernels::dense_product(kernels::plain(y.data(), r), kernels::plain(matrix.data(), c), n, c, r, rotated.data(), c, {},
                         threads);
  y = std::move(rotated);
}

// Columns of length one that span the same, but for what is rounding.
void orthonormalise(Buffer<float>& y, int64_t n, int64_t r, Threads threads) {
  const SymmetricEigen eigen = gram_eigen(y, n, r, threads);
  const double least = std::max(kSmallestShare * eigen.values.back(), 1e-30);
  std::vector<float> matrix(static_cast<size_t>(r * r));
  for (int64_t j = 0; j < r; ++j) {
    for (int64_t i = 0; i < r; ++i)
      matrix[i * r + j] = static_cast<float>(eigen.vectors[j * r + i] / std::sqrt(std::max(eigen.values[j], least)));
  }
  rotate(y, n, r, matrix, r, threads);
}

}  // namespace

Buffer<float> leading_columns(const MatrixProducts& x, int64_t rank, uint64_t seed, Threads threads) {
  const int64_t least = std::min(x.rows, x.columns), kept = std::min(rank, least), r = std::min(rank + kMore, least);
  Buffer<float> right(static_cast<size_t>(x.columns * r)), left(static_cast<size_t>(x.rows * r));
  const Rng rng(seed, kProjectionStream);
  for (size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(rng.normal(i));
  for (int64_t k = 0; k < kPowerIterations; ++k) {
    x.times(right.data(), r, left.data());
    orthonormalise(left, x.rows, r, threads);
    x.transposed(left.data(), r, right.data());
    orthonormalise(right, x.columns, r, threads);
  }
  x.times(right.data(), r, left.data());
  const SymmetricEigen eigen = gram_eigen(left, x.rows, r, threads);
  std::vector<float> matrix(static_cast<size_t>(r * kept));
  for (int64_t j = 0; j < kept; ++j) {
    const double* vector = &eigen.vectors[(r - 1 - j) * r];
    const double* largest =
        std::max_element(vector, vector + r, [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (int64_t i = 0; i < r; ++i) matrix[i * kept + j] = static_cast<float>(*largest < 0 ? -vector[i] : vector[i]);
  }
  rotate(left, x.rows, r, matrix, kept, threads);
  return left;
}

Features leading_columns(const Features& x, int64_t rank, uint64_t seed, Threads threads) {
  MatrixProducts products{x.rows(), x.columns(), {}, {}};
  kernels::CorruptedRows sparse;
  const int64_t n = x.rows(), f = x.columns();
  if (x.is_sparse()) {
    std::vector<int32_t> every(static_cast<size_t>(n));
    std::iota(every.begin(), every.end(), 0);
    kernels::build_corrupted_rows(x, every, kernels::Dropout{}, sparse, threads);
    products.times = [&](const float* in, int64_t r, float* out) { kernels::csr_product(sparse, in, r, out, threads); };
    products.transposed = [&](const float* in, int64_t r, float* out) {
      kernels::csc_product(sparse, in, r, out, threads);
    };
  } else {
    const float* values = x.dense_values().data();
    products.times = [=](const float* in, int64_t r, float* out) {
      kernels::dense_product(kernels::plain(values, f), kernels::plain(in, r), n, r, f, out, r, {}, threads);
    };
    products.transposed = [=](const float* in, int64_t r, float* out) {
      kernels::dense_product(kernels::transposed(values, f), kernels::plain(in, r), f, r, n, out, r, {}, threads);
    };
  }
  Buffer<float> rows = leading_columns(products, rank, seed, threads);
  return Features::dense(n, std::min({rank, n, f}), std::move(rows));
}

}  // namespace graphpae
