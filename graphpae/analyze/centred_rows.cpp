#include "graphpae/analyze/centred_rows.h"

#include <algorithm>

namespace graphpae {

std::vector<double> centred_rows(const Features& x) {
  const int64_t n = x.rows(), d = x.columns();
  std::vector<double> rows(static_cast<size_t>(n * d), 0.0), mean(static_cast<size_t>(d), 0.0);
  for (int64_t i = 0; i < n; ++i) {
    double* row = rows.data() + i * d;
    if (x.is_sparse()) {
      const SparseRow sparse = x.sparse_row(i);
      for (size_t e = 0; e < sparse.columns.size(); ++e) row[sparse.columns[e]] = sparse.values[e];
    } else {
      const auto dense = x.dense_row(i);
      std::copy(dense.begin(), dense.end(), row);
    }
    for (int64_t c = 0; c < d; ++c) mean[c] += row[c];
  }
  for (double& value : mean) value /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < d; ++c) rows[i * d + c] -= mean[c];
  }
  return rows;
}

}  // namespace graphpae
