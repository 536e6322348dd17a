#include "graphpae/evaluate/shifted_factor.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/kernels/dense_product.h"

namespace graphpae {
namespace {

constexpr int64_t kFactorBlock = 64;   // columns that are eliminated together
constexpr int64_t kUpdatedRows = 256;  // rows of an update of the lower triangle

}  // namespace

void ShiftedFactor::factorise(const Buffer<float>& q, int64_t n, double h, double penalty, Threads threads) {
  n_ = n;
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, h * q[i * n + i] + penalty);
  if (!std::isfinite(largest)) throw numerical_error("probe: rows are too large to be multiplied");
  for (double added = 0;; added = std::max(1e-7 * largest, 10 * added)) {
    l_.resize(q.size());
    for (size_t i = 0; i < q.size(); ++i) l_[i] = static_cast<float>(h * q[i]);
    for (int64_t i = 0; i < n; ++i) l_[i * n + i] += static_cast<float>(penalty + added);
    if (try_factorise(threads)) break;
    if (!(added < largest)) throw numerical_error("probe: the products of rows are not finite");
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) l_[j * n + i] = l_[i * n + j];
  }
}

// Right-looking, block by block: what is left of the matrix is updated by products.
bool ShiftedFactor::try_factorise(Threads threads) {
  std::vector<float> inverse(static_cast<size_t>(kFactorBlock * kFactorBlock));
  Buffer<float> below, negative;
  for (int64_t k = 0; k < n_; k += kFactorBlock) {
    const int64_t b = std::min(kFactorBlock, n_ - k), left = n_ - k - b;
    const auto at = [&](int64_t i, int64_t j) -> float& { return l_[(k + i) * n_ + k + j]; };
    for (int64_t j = 0; j < b; ++j) {
      for (int64_t i = j; i < b; ++i) {
        double sum = at(i, j);
        for (int64_t t = 0; t < j; ++t) sum -= static_cast<double>(at(i, t)) * at(j, t);
        if (i == j) {
          if (!(sum > 0) || !std::isfinite(sum)) return false;
          at(j, j) = static_cast<float>(std::sqrt(sum));
        } else {
          at(i, j) = static_cast<float>(sum / at(j, j));
        }
      }
    }
    if (left == 0) break;
    // The inverse of the block on the diagonal, lower triangular [b,b].
    std::fill(inverse.begin(), inverse.end(), 0.0f);
    for (int64_t j = 0; j < b; ++j) {
      for (int64_t i = j; i < b; ++i) {
        double sum = i == j ? 1 : 0;
        for (int64_t t = j; t < i; ++t) sum -= static_cast<double>(at(i, t)) * inverse[t * b + j];
        inverse[i * b + j] = static_cast<float>(sum / at(i, i));
      }
    }
    below.resize(static_cast<size_t>(left * b));
    kernels::dense_product(kernels::plain(&l_[(k + b) * n_ + k], n_), kernels::transposed(inverse.data(), b), left, b,
                           b, below.data(), b, {}, threads);
    negative.resize(below.size());
    for (size_t i = 0; i < below.size(); ++i) negative[i] = -below[i];
    for (int64_t i = 0; i < left; ++i) std::copy_n(&below[i * b], b, &l_[(k + b + i) * n_ + k]);
    for (int64_t row = 0; row < left; row += kUpdatedRows) {
      const int64_t rows = std::min(kUpdatedRows, left - row);
      kernels::dense_product(kernels::plain(&negative[row * b], b), kernels::transposed(below.data(), b), rows,
                             row + rows, b, &l_[(k + b + row) * n_ + k + b], n_, {.accumulate = true}, threads);
    }
  }
  return true;
}

void ShiftedFactor::solve(float* x, int64_t c, Threads threads) const {
  const auto at = [&](int64_t i, int64_t j) { return l_[i * n_ + j]; };
  Buffer<float> solved(static_cast<size_t>(kFactorBlock * c));  // of a block, its sign changed
  const auto keep_negative = [&](int64_t k, int64_t b) {
    for (int64_t i = 0; i < b * c; ++i) solved[i] = -x[k * c + i];
  };
  // L y = b, from the first block on: what is solved is taken out of all that follows.
  for (int64_t k = 0; k < n_; k += kFactorBlock) {
    const int64_t b = std::min(kFactorBlock, n_ - k), after = n_ - k - b;
    for (int64_t i = k; i < k + b; ++i) {
      for (int64_t t = k; t < i; ++t) {
        for (int64_t j = 0; j < c; ++j) x[i * c + j] -= at(i, t) * x[t * c + j];
      }
      for (int64_t j = 0; j < c; ++j) x[i * c + j] /= at(i, i);
    }
    keep_negative(k, b);
    kernels::dense_product(kernels::plain(&l_[(k + b) * n_ + k], n_), kernels::plain(solved.data(), c), after, c, b,
                           x + (k + b) * c, c, {.accumulate = true}, threads);
  }
  // L^T x = y, from the last block on; above the diagonal stands L^T.
  for (int64_t k = (n_ - 1) / kFactorBlock * kFactorBlock; k >= 0; k -= kFactorBlock) {
    const int64_t b = std::min(kFactorBlock, n_ - k);
    for (int64_t i = k + b - 1; i >= k; --i) {
      for (int64_t t = i + 1; t < k + b; ++t) {
        for (int64_t j = 0; j < c; ++j) x[i * c + j] -= at(i, t) * x[t * c + j];
      }
      for (int64_t j = 0; j < c; ++j) x[i * c + j] /= at(i, i);
    }
    keep_negative(k, b);
    kernels::dense_product(kernels::plain(l_.data() + k, n_), kernels::plain(solved.data(), c), k, c, b, x, c,
                           {.accumulate = true}, threads);
  }
}

}  // namespace graphpae
