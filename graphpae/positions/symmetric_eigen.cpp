#include "graphpae/positions/symmetric_eigen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "graphpae/core/buffer.h"
#include "graphpae/core/error.h"
#include "graphpae/kernels/float64_kernels.h"

namespace graphpae {
namespace {

using kernels::kStripRows;

constexpr int64_t kParallelSize = 256;  // smaller matrices are left to one thread
constexpr int64_t kRowsPerTask = 32;
constexpr int64_t kSweepsAtOnce = 48;  // of the QL iteration, before the vectors follow
constexpr int kMaxSweeps = 60;         // per eigenvalue

// A = Q T Q^T with T tridiagonal, Q = H_0 H_1 ..., H_k = I - tau_k v_k v_k^T.
struct Tridiagonal {
  std::vector<double> diagonal;      // [n]
  std::vector<double> off_diagonal;  // [n], the last is zero
  std::vector<double> tau;           // [n]
  std::vector<double> reflectors;    // [n,n] row k holds v_k, zero up to entry k
};

// The vector v and tau of the reflection that maps x (n entries) to (beta, 0, ...); v replaces x. Returns beta.
double make_reflection(double* x, int64_t n, double& tau) {
  const double rest = n > 1 ? kernels::dot(x + 1, x + 1, n - 1) : 0.0;
  const double first = x[0];
  if (rest == 0.0) {
    tau = 0;
    x[0] = 1;
    return first;
  }
  const double beta = -std::copysign(std::sqrt(first * first + rest), first);
  tau = (beta - first) / beta;
  for (int64_t i = 1; i < n; ++i) x[i] /= first - beta;
  x[0] = 1;
  return beta;
}

// Householder's reduction on full rows: each step applies the last two-sided reflection to a row and multiplies the row
// by the next vector in one pass, so the matrix is read once per step.
Tridiagonal tridiagonalise(std::vector<double> a, int64_t n, Threads threads) {
  Tridiagonal result;
  result.diagonal.resize(n);
  result.off_diagonal.assign(n, 0.0);
  result.tau.assign(n, 0.0);
  result.reflectors.assign(n * n, 0.0);
  std::vector<double> w(n, 0.0), product(n, 0.0);
  const std::vector<double> none(n, 0.0);  // nothing to apply at first
  const double* v = none.data();
  for (int64_t k = 0; k < n; ++k) {
    // Row k as it is after the last reflection; its part right of the diagonal is the next vector.
    double* row = a.data() + k * n;
    for (int64_t j = k; j < n; ++j) row[j] -= v[k] * w[j] + w[k] * v[j];
    result.diagonal[k] = row[k];
    const int64_t m = n - k - 1;
    if (m == 0) break;
    double* next = result.reflectors.data() + k * n;
    std::copy(row + k + 1, row + n, next + k + 1);
    double& tau = result.tau[k];
    result.off_diagonal[k] = make_reflection(next + k + 1, m, tau);
    const auto update_rows = [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        product[i] =
            kernels::update_row(a.data() + i * n + k + 1, w.data() + k + 1, v[i], v + k + 1, w[i], next + k + 1, m);
      }
    };
    const int64_t tasks = (m + kRowsPerTask - 1) / kRowsPerTask;
    if (threads.count == 1 || m < kParallelSize) {
      update_rows(k + 1, n);
    } else {
#pragma omp parallel for schedule(static) num_threads(threads.count)
      for (int64_t task = 0; task < tasks; ++task) {
        update_rows(k + 1 + task * kRowsPerTask, std::min(n, k + 1 + (task + 1) * kRowsPerTask));
      }
    }
    // A <- A - v w^T - w v^T with w = tau p - (tau^2 p.v / 2) v, p = A v.
    const double half = tau * tau * kernels::dot(product.data() + k + 1, next + k + 1, m) / 2;
    for (int64_t i = k + 1; i < n; ++i) w[i] = tau * product[i] - half * next[i];
    v = next;
  }
  return result;
}

// The plane rotations of QL sweeps, one after the other: sweep q turns columns first[q] .. first[q] + count[q].
struct Sweeps {
  std::vector<int64_t> first, count;
  std::vector<double> c, s;
};

// The implicit QL iteration on T (diagonal d, off-diagonal e). Rotations go to `sweeps`; `apply` is called whenever
// there are enough of them, and at the end, and clears them.
template <class Apply>
void ql_iteration(std::vector<double>& d, std::vector<double>& e, Sweeps& sweeps, const Apply& apply) {
  const int64_t n = static_cast<int64_t>(d.size());
  double size = 0;
  for (int64_t i = 0; i < n; ++i) size = std::max(size, std::abs(d[i]) + std::abs(e[i]));
  const double negligible = std::numeric_limits<double>::epsilon() * size;
  for (int64_t l = 0; l < n; ++l) {
    for (int sweep = 0;; ++sweep) {
      int64_t m = l;  // the block l..m stands alone
      while (m + 1 < n && std::abs(e[m]) > negligible) ++m;
      if (m == l) break;
      if (sweep == kMaxSweeps) throw numerical_error(fmt::format("no eigenvalues of a {0} x {0} matrix", n));
      // Wilkinson's shift.
      const double p = (d[l + 1] - d[l]) / (2 * e[l]);
      double g = d[m] - d[l] + e[l] / (p + std::copysign(std::sqrt(p * p + 1.0), p));
      double s = 1, c = 1, carry = 0;
      const size_t base = sweeps.c.size();
      sweeps.first.push_back(l);
      sweeps.count.push_back(m - l);
      sweeps.c.resize(base + m - l, 1.0);
      sweeps.s.resize(base + m - l, 0.0);
      int64_t i = m - 1;
      for (; i >= l; --i) {
        const double f = s * e[i], b = c * e[i];
        const double r = std::sqrt(f * f + g * g);  // the matrix is scaled: no overflow
        e[i + 1] = r;
        if (r == 0) break;
        s = f / r;
        c = g / r;
        g = d[i + 1] - carry;
        const double t = (d[i] - g) * s + 2 * c * b;
        carry = s * t;
        d[i + 1] = g + carry;
        g = c * t - b;
        sweeps.c[base + i - l] = c;
        sweeps.s[base + i - l] = s;
      }
      if (i >= l) {  // underflow: the matrix splits here
        d[i + 1] -= carry;
        e[m] = 0;
      } else {
        d[l] -= carry;
        e[l] = g;
        e[m] = 0;
      }
      if (static_cast<int64_t>(sweeps.first.size()) == kSweepsAtOnce) apply();
    }
  }
  apply();
}

}  // namespace

SymmetricEigen symmetric_eigen(const std::vector<double>& matrix, int64_t n, Threads threads) {
  SymmetricEigen result;
  if (n == 0) return result;
  if (n < kParallelSize) threads.count = 1;
  // Scaled by a power of two, which is exact, so that squares neither overflow nor vanish.
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) largest = std::max(largest, std::abs(matrix[i * n + j]));
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  const double scale = std::ldexp(1.0, -exponent);
  std::vector<double> full(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) full[i * n + j] = full[j * n + i] = scale * matrix[i * n + j];
  }
  Tridiagonal t = tridiagonalise(std::move(full), n, threads);
  if (!std::isfinite(std::accumulate(t.diagonal.begin(), t.diagonal.end(), 0.0))) {
    throw numerical_error(fmt::format("a {0} x {0} matrix has values that are not finite", n));
  }

  // The vectors in strips of 16 rows: first Q, then the sweeps applied to it, each strip on its own.
  const int64_t strips = (n + kStripRows - 1) / kStripRows;
  AlignedArray<double> vectors(strips * n * kStripRows);
  std::fill(vectors.begin(), vectors.end(), 0.0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count) if (threads.count > 1)
  for (int64_t strip = 0; strip < strips; ++strip) {
    double* z = vectors.data() + strip * n * kStripRows;
    for (int64_t r = 0; r < kStripRows && strip * kStripRows + r < n; ++r)
      z[(strip * kStripRows + r) * kStripRows + r] = 1;
    for (int64_t k = 0; k + 1 < n; ++k) {
      kernels::reflect_strip(z + (k + 1) * kStripRows, t.reflectors.data() + k * n + k + 1, t.tau[k], n - k - 1);
    }
  }
  Sweeps sweeps;
  ql_iteration(t.diagonal, t.off_diagonal, sweeps, [&] {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count) if (threads.count > 1)
    for (int64_t strip = 0; strip < strips; ++strip) {
      double* z = vectors.data() + strip * n * kStripRows;
      const double *c = sweeps.c.data(), *s = sweeps.s.data();
      for (size_t q = 0; q < sweeps.first.size(); ++q) {
        kernels::rotate_strip(z + sweeps.first[q] * kStripRows, c, s, sweeps.count[q]);
        c += sweeps.count[q];
        s += sweeps.count[q];
      }
    }
    sweeps = {};
  });

  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return t.diagonal[a] < t.diagonal[b]; });
  result.values.resize(n);
  result.vectors.resize(n * n);
#pragma omp parallel for schedule(static) num_threads(threads.count) if (threads.count > 1)
  for (int64_t j = 0; j < n; ++j) {
    result.values[j] = t.diagonal[order[j]] / scale;
    for (int64_t i = 0; i < n; ++i) {
      result.vectors[j * n + i] = vectors[(i / kStripRows * n + order[j]) * kStripRows + i % kStripRows];
    }
  }
  return result;
}

}  // namespace graphpae
