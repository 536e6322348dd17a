#include "graphpae/settings/feature_columns.h"

#include <algorithm>
#include <cmath>

namespace graphpae {
namespace {

// Calls body(row, column, value) for every value that is stored.
template <class Body>
void for_stored(const Features& x, const Body& body) {
  for (int64_t i = 0; i < x.rows(); ++i) {
    if (x.is_sparse()) {
      const SparseRow row = x.sparse_row(i);
      for (size_t k = 0; k < row.columns.size(); ++k) body(i, row.columns[k], row.values[k]);
    } else {
      const auto row = x.dense_row(i);
      for (int64_t c = 0; c < x.columns(); ++c) body(i, static_cast<int32_t>(c), row[c]);
    }
  }
}

struct Triples {
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> columns;
  std::vector<float> values;

  void add(int32_t column, float value) {
    columns.push_back(column);
    values.push_back(value);
  }
  void end_row() { offsets.push_back(static_cast<int64_t>(values.size())); }
  Features made(int64_t width) && {
    const int64_t rows = static_cast<int64_t>(offsets.size()) - 1;
    return Features::sparse(rows, width, std::move(offsets), std::move(columns), std::move(values));
  }
};

}  // namespace

std::vector<ColumnFacts> column_facts(const Features& x) {
  std::vector<ColumnFacts> facts(static_cast<size_t>(x.columns()));
  std::vector<int64_t> stored(facts.size());
  for_stored(x, [&](int64_t, int32_t c, float value) {
    ColumnFacts& column = facts[c];
    column.low = stored[c] == 0 ? value : std::min(column.low, value);
    column.high = stored[c] == 0 ? value : std::max(column.high, value);
    ++stored[c];
    column.mean += value;
    if (value != 0 && value != 1) column.bits = false;
    if (value < 0 || value != std::floor(value)) column.counts = false;
  });
  const double n = static_cast<double>(std::max<int64_t>(x.rows(), 1));
  for (size_t c = 0; c < facts.size(); ++c) {
    facts[c].mean /= n;
    if (stored[c] == x.rows()) continue;
    facts[c].low = std::min(facts[c].low, 0.0f);
    facts[c].high = std::max(facts[c].high, 0.0f);
    facts[c].deviation = static_cast<double>(x.rows() - stored[c]) * facts[c].mean * facts[c].mean;
  }
  for_stored(x, [&](int64_t, int32_t c, float value) {
    const double difference = value - facts[c].mean;
    facts[c].deviation += difference * difference;
  });
  for (ColumnFacts& column : facts) column.deviation = std::sqrt(column.deviation / n);
  return facts;
}

bool varies(const Features& x) {
  if (x.columns() == 0 || x.rows() < 2) return false;
  std::vector<float> first(static_cast<size_t>(x.columns())), row(first.size());
  x.copy_row(0, first.data());
  for (int64_t i = 1; i < x.rows(); ++i) {
    x.copy_row(i, row.data());
    if (row != first) return true;
  }
  return false;
}

bool wants_standard(const Features& x, std::span<const ColumnFacts> facts) {
  const int64_t nonzeros = x.nonzeros(), all = x.rows() * x.columns();
  if (x.is_sparse() || 4 * nonzeros < all) return false;
  if (std::all_of(facts.begin(), facts.end(), [](const ColumnFacts& f) { return f.bits; })) return false;
  const bool counts = std::all_of(facts.begin(), facts.end(), [](const ColumnFacts& f) { return f.counts; });
  return !(counts && 2 * nonzeros <= all);
}

Features without_columns(const Features& x, std::span<const int32_t> dropped) {
  const int64_t width = x.columns() - static_cast<int64_t>(dropped.size());
  std::vector<int32_t> place(static_cast<size_t>(x.columns()));  // -1: dropped
  int32_t next = 0;
  for (int32_t c = 0; c < static_cast<int32_t>(x.columns()); ++c)
    place[c] = std::binary_search(dropped.begin(), dropped.end(), c) ? -1 : next++;
  if (!x.is_sparse()) {
    Buffer<float> values(static_cast<size_t>(x.rows() * width));
    for_stored(x, [&](int64_t i, int32_t c, float value) {
      if (place[c] >= 0) values[static_cast<size_t>(i * width + place[c])] = value;
    });
    return Features::dense(x.rows(), width, std::move(values));
  }
  Triples kept;
  for (int64_t i = 0; i < x.rows(); ++i) {
    const SparseRow row = x.sparse_row(i);
    for (size_t k = 0; k < row.columns.size(); ++k) {
      if (place[row.columns[k]] >= 0) kept.add(place[row.columns[k]], row.values[k]);
    }
    kept.end_row();
  }
  return std::move(kept).made(width);
}

Features scaled(const Features& x, std::span<const float> shift, std::span<const float> factor) {
  const int64_t width = x.columns();
  if (!x.is_sparse()) {
    Buffer<float> values(static_cast<size_t>(x.rows() * width));
    for_stored(x, [&](int64_t i, int32_t c, float value) {
      values[static_cast<size_t>(i * width + c)] = (value - shift[c]) * factor[c];
    });
    return Features::dense(x.rows(), width, std::move(values));
  }
  std::vector<float> values(x.values().begin(), x.values().end());
  for (size_t k = 0; k < values.size(); ++k) values[k] *= factor[x.indices()[k]];
  return Features::sparse(x.rows(), width, {x.offsets().begin(), x.offsets().end()},
                          {x.indices().begin(), x.indices().end()}, std::move(values));
}

Features side_by_side(const Features& left, const Features& right) {
  const int64_t width = left.columns() + right.columns();
  if (!left.is_sparse()) {
    Buffer<float> values(static_cast<size_t>(left.rows() * width));
    for (int64_t i = 0; i < left.rows(); ++i) {
      left.copy_row(i, values.data() + i * width);
      right.copy_row(i, values.data() + i * width + left.columns());
    }
    return Features::dense(left.rows(), width, std::move(values));
  }
  Triples both;
  std::vector<float> beside(static_cast<size_t>(right.columns()));
  for (int64_t i = 0; i < left.rows(); ++i) {
    const SparseRow row = left.sparse_row(i);
    for (size_t k = 0; k < row.columns.size(); ++k) both.add(row.columns[k], row.values[k]);
    right.copy_row(i, beside.data());
    for (size_t c = 0; c < beside.size(); ++c) {
      if (beside[c] != 0) both.add(static_cast<int32_t>(left.columns() + static_cast<int64_t>(c)), beside[c]);
    }
    both.end_row();
  }
  return std::move(both).made(width);
}

Features row_normalised(const Features& x) {
  const auto scale_of = [](std::span<const float> row) {
    double sum = 0;
    for (const float value : row) sum += value;
    return sum == 0 ? 1.0 : 1.0 / sum;
  };
  const auto divided = [&](std::span<const float> row, float* out) {
    const double scale = scale_of(row);
    for (const float value : row) *out++ = static_cast<float>(value * scale);
  };
  if (!x.is_sparse()) {
    Buffer<float> values(x.dense_values().size());
    for (int64_t i = 0; i < x.rows(); ++i) divided(x.dense_row(i), values.data() + i * x.columns());
    return Features::dense(x.rows(), x.columns(), std::move(values));
  }
  std::vector<float> values(x.values().size());
  for (int64_t i = 0; i < x.rows(); ++i) divided(x.sparse_row(i).values, values.data() + x.offsets()[i]);
  return Features::sparse(x.rows(), x.columns(), {x.offsets().begin(), x.offsets().end()},
                          {x.indices().begin(), x.indices().end()}, std::move(values));
}

}  // namespace graphpae
