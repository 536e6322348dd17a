#include "bench/arpack_reference.h"

#include <algorithm>
#include <cmath>

#include "graphpae/core/rng.h"

extern "C" {
void dsaupd_(int* ido, const char* bmat, const int* n, const char* which, const int* nev, const double* tol,
             double* resid, const int* ncv, double* v, const int* ldv, int* iparam, int* ipntr, double* workd,
             double* workl, const int* lworkl, int* info);
void dseupd_(const int* rvec, const char* howmny, int* select, double* d, double* z, const int* ldz,
             const double* sigma, const char* bmat, const int* n, const char* which, const int* nev, const double* tol,
             double* resid, const int* ncv, double* v, const int* ldv, int* iparam, int* ipntr, double* workd,
             double* workl, const int* lworkl, int* info);
}

namespace graphpae::bench {

ArpackResult arpack_smallest(const Adjacency& graph, int64_t k, double tolerance) {
  const int n = static_cast<int>(graph.num_nodes());
  const int nev = static_cast<int>(k);
  const int ncv = static_cast<int>(std::min<int64_t>(n, std::max<int64_t>(2 * k + 1, 20)));

  // SciPy holds L as CSR with float64 values; so does this, and multiplies on one thread as SciPy does.
  std::vector<int32_t> columns;
  std::vector<double> values;
  std::vector<int64_t> starts{0};
  for (int64_t i = 0; i < n; ++i) {
    const double root = std::sqrt(static_cast<double>(std::max<int64_t>(1, graph.degree(i))));
    bool diagonal = false;
    const auto put_diagonal = [&] {
      columns.push_back(static_cast<int32_t>(i));
      values.push_back(1.0);
      diagonal = true;
    };
    for (const int32_t j : graph.row(i)) {
      if (!diagonal && j > i) put_diagonal();
      columns.push_back(j);
      values.push_back(-1.0 / (root * std::sqrt(static_cast<double>(graph.degree(j)))));
    }
    if (!diagonal) put_diagonal();
    starts.push_back(static_cast<int64_t>(columns.size()));
  }
  const auto multiply = [&](const double* x, double* y) {
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (int64_t e = starts[i]; e < starts[i + 1]; ++e) sum += values[e] * x[columns[e]];
      y[i] = sum;
    }
  };

  ArpackResult result;
  std::vector<double> resid(n), v(static_cast<size_t>(n) * ncv), workd(3 * static_cast<size_t>(n));
  const int lworkl = ncv * (ncv + 8);
  std::vector<double> workl(lworkl);
  const Rng rng(0, 7);
  for (int i = 0; i < n; ++i) resid[i] = 2 * rng.uniform(i) - 1;
  int iparam[11] = {}, ipntr[14] = {};
  iparam[0] = 1;
  iparam[2] = 10 * n;
  iparam[3] = 1;
  iparam[6] = 1;
  int ido = 0, info = 1;
  for (;;) {
    dsaupd_(&ido, "I", &n, "SA", &nev, &tolerance, resid.data(), &ncv, v.data(), &n, iparam, ipntr, workd.data(),
            workl.data(), &lworkl, &info);
    if (ido != 1 && ido != -1) break;
    multiply(workd.data() + ipntr[0] - 1, workd.data() + ipntr[1] - 1);
    ++result.products;
  }
  result.info = info;
  result.converged = iparam[4];
  std::vector<int> select(ncv);
  std::vector<double> d(nev), z(static_cast<size_t>(n) * nev);
  const int rvec = 1;
  const double sigma = 0;
  int extract = 0;
  dseupd_(&rvec, "A", select.data(), d.data(), z.data(), &n, &sigma, "I", &n, "SA", &nev, &tolerance, resid.data(),
          &ncv, v.data(), &n, iparam, ipntr, workd.data(), workl.data(), &lworkl, &extract);
  result.eigenvalues = d;
  std::sort(result.eigenvalues.begin(), result.eigenvalues.end());
  std::vector<double> y(n);
  for (int j = 0; j < nev; ++j) {
    const double* x = z.data() + static_cast<size_t>(j) * n;
    multiply(x, y.data());
    double square = 0;
    for (int i = 0; i < n; ++i) square += (y[i] - d[j] * x[i]) * (y[i] - d[j] * x[i]);
    result.max_residual = std::max(result.max_residual, std::sqrt(square));
  }
  return result;
}

}  // namespace graphpae::bench
