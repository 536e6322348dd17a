#include "graphpae/evaluate/standard_rows.h"

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/kernels/dense_product.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae {
namespace {

constexpr int64_t kAlwaysDense = 512;             // columns: then their Gram matrix costs nothing
constexpr int64_t kMostDense = int64_t{1} << 27;  // values of the dense form: half a gigabyte
constexpr int64_t kMostFactored = 3072;           // rows or columns whose Gram matrix is worth factorising
constexpr int64_t kChunk = 256;                   // rows that are scored at a time

// Whether all blocks go into one dense matrix, for the sake of a Gram matrix that makes the search short.
bool wants_dense(std::span<const ProbeBlock> blocks, int64_t rows, int64_t columns) {
  const bool all_sparse =
      std::all_of(blocks.begin(), blocks.end(), [](const ProbeBlock& block) { return block.rows->is_sparse(); });
  if (rows * columns > kMostDense) return false;
  return columns <= kAlwaysDense || (!all_sparse && std::min(rows, columns) <= kMostFactored);
}

}  // namespace

int64_t total_columns(std::span<const ProbeBlock> blocks) {
  int64_t columns = 0;
  for (const ProbeBlock& block : blocks) columns += block.rows->columns();
  return columns;
}

void LinearScores::apply(std::span<const ProbeBlock> blocks, std::span<const int32_t> ids, float* out,
                         Threads threads) const {
  const auto count = static_cast<int64_t>(ids.size()), chunks = (count + kChunk - 1) / kChunk;
  parallel_tasks(threads, chunks, [&](int64_t chunk) {
    flush_denormals();
    const int64_t begin = chunk * kChunk, end = std::min(count, begin + kChunk);
    for (int64_t i = begin; i < end; ++i) std::copy(bias.begin(), bias.end(), out + i * outputs);
    Buffer<float> gathered;
    int64_t first = 0;
    for (const ProbeBlock& block : blocks) {
      const Features& rows = *block.rows;
      const float* w = weights.data() + first * outputs;
      if (rows.is_sparse()) {
        for (int64_t i = begin; i < end; ++i) {
          const SparseRow row = rows.sparse_row(ids[i]);
          float* to = out + i * outputs;
          for (size_t k = 0; k < row.columns.size(); ++k) {
            const float* from = w + row.columns[k] * outputs;
            for (int64_t c = 0; c < outputs; ++c) to[c] += row.values[k] * from[c];
          }
        }
      } else {
        gathered.resize(static_cast<size_t>((end - begin) * rows.columns()));
        for (int64_t i = begin; i < end; ++i) rows.copy_row(ids[i], gathered.data() + (i - begin) * rows.columns());
        kernels::dense_product(kernels::plain(gathered.data(), rows.columns()), kernels::plain(w, outputs), end - begin,
                               outputs, rows.columns(), out + begin * outputs, outputs, {.accumulate = true},
                               Threads{});
      }
      first += rows.columns();
    }
  });
}

StandardRows::StandardRows(std::span<const ProbeBlock> blocks, std::span<const int32_t> ids, Threads threads)
    : rows_(static_cast<int64_t>(ids.size())),
      columns_(total_columns(blocks)),
      threads_(threads),
      mean_(static_cast<size_t>(columns_), 0),
      scale_(static_cast<size_t>(columns_), 0) {
  if (columns_ == 0) throw data_error("rows without columns: nothing to learn from");
  if (ids.empty()) throw data_error("there are no rows to train a probe on");
  dense_form_ = wants_dense(blocks, rows_, columns_);
  int64_t first = 0;
  for (const ProbeBlock& block : blocks) {
    learn_columns(block, ids, first);
    const int64_t columns = block.rows->columns();
    if (dense_form_ || !block.rows->is_sparse()) {
      dense_.push_back({first, columns, standardised(*block.rows, ids, first)});
    } else {
      sparse_.push_back({first, {}});
      kernels::build_corrupted_rows(*block.rows, ids, kernels::Dropout{}, sparse_.back().rows, threads_);
    }
    first += columns;
  }
  if (dense_form_ && dense_.size() > 1) {
    DenseBlock joined{0, columns_, Buffer<float>(static_cast<size_t>(rows_ * columns_))};
    for (const DenseBlock& part : dense_) {
      for (int64_t i = 0; i < rows_; ++i)
        std::copy_n(part.values.data() + i * part.columns, part.columns,
                    joined.values.data() + i * columns_ + part.first);
    }
    dense_.clear();
    dense_.push_back(std::move(joined));
  }
}

int64_t StandardRows::live_columns() const {
  return std::count_if(scale_.begin(), scale_.end(), [](double scale) { return scale > 0; });
}

void StandardRows::learn_columns(const ProbeBlock& block, std::span<const int32_t> ids, int64_t first) {
  const Features& x = *block.rows;
  const int64_t columns = x.columns();
  const auto count = static_cast<double>(rows_);
  std::vector<double> shift(static_cast<size_t>(columns), 0), sum(shift), square(shift);
  std::vector<int64_t> stored(static_cast<size_t>(columns), 0);
  if (x.is_sparse()) {
    for (const int32_t id : ids) {
      const SparseRow row = x.sparse_row(id);
      for (size_t k = 0; k < row.columns.size(); ++k) {
        sum[row.columns[k]] += row.values[k];
        ++stored[row.columns[k]];
      }
    }
    for (int64_t d = 0; d < columns; ++d) sum[d] /= count;
    for (const int32_t id : ids) {
      const SparseRow row = x.sparse_row(id);
      for (size_t k = 0; k < row.columns.size(); ++k) {
        const double difference = row.values[k] - sum[row.columns[k]];
        square[row.columns[k]] += difference * difference;
      }
    }
    for (int64_t d = 0; d < columns; ++d) square[d] += (count - static_cast<double>(stored[d])) * sum[d] * sum[d];
  } else {
    // Relative to the first row, a column that never changes has no deviation, to the last bit.
    const auto origin = x.dense_row(ids[0]);
    for (const int32_t id : ids) {
      const auto row = x.dense_row(id);
      for (int64_t d = 0; d < columns; ++d) {
        const double value = static_cast<double>(row[d]) - origin[d];
        sum[d] += value;
      }
    }
    for (int64_t d = 0; d < columns; ++d) {
      sum[d] /= count;
      shift[d] = origin[d];
    }
    for (const int32_t id : ids) {
      const auto row = x.dense_row(id);
      for (int64_t d = 0; d < columns; ++d) {
        const double difference = static_cast<double>(row[d]) - origin[d] - sum[d];
        square[d] += difference * difference;
      }
    }
  }
  // A deviation of rounding only is none: it would blow up noise.
  const auto changes = [&](int64_t d) {
    const double mean = shift[d] + sum[d];
    return square[d] / count > 1e-12 * mean * mean && square[d] > 0;
  };
  double variance = 0;  // of a row, after its columns are scaled
  for (int64_t d = 0; d < columns; ++d) variance += !changes(d) ? 0 : block.rotated ? square[d] / count : 1;
  const double length = variance > 0 ? std::sqrt(block.weight / variance) : 0;
  for (int64_t d = 0; d < columns; ++d) {
    mean_[first + d] = shift[d] + sum[d];
    scale_[first + d] = !changes(d) ? 0 : block.rotated ? length : length / std::sqrt(square[d] / count);
  }
}

Buffer<float> StandardRows::standardised(const Features& features, std::span<const int32_t> ids, int64_t first) const {
  const int64_t columns = features.columns();
  Buffer<float> values(static_cast<size_t>(rows_ * columns));
  for (int64_t i = 0; i < rows_; ++i) {
    float* row = values.data() + i * columns;
    features.copy_row(ids[i], row);
    for (int64_t d = 0; d < columns; ++d) row[d] = static_cast<float>((row[d] - mean_[first + d]) * scale_[first + d]);
  }
  return values;
}

void StandardRows::forward(const float* w, int64_t c, float* out) const {
  std::fill_n(out, rows_ * c, 0.0f);
  for (const DenseBlock& block : dense_) {
    kernels::dense_product(kernels::plain(block.values.data(), block.columns), kernels::plain(w + block.first * c, c),
                           rows_, c, block.columns, out, c, {.accumulate = true}, threads_);
  }
  if (sparse_.empty()) return;
  Buffer<float> scaled, part(static_cast<size_t>(rows_ * c));
  for (const SparseBlock& block : sparse_) {
    const int64_t columns = block.rows.columns;
    scaled.resize(static_cast<size_t>(columns * c));
    std::vector<double> offset(static_cast<size_t>(c), 0);
    for (int64_t d = 0; d < columns; ++d) {
      const double scale = scale_[block.first + d], mean = mean_[block.first + d];
      for (int64_t j = 0; j < c; ++j) {
        const double value = scale * w[(block.first + d) * c + j];
        scaled[d * c + j] = static_cast<float>(value);
        offset[j] += mean * value;
      }
    }
    kernels::csr_product(block.rows, scaled.data(), c, part.data(), threads_);
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < c; ++j) out[i * c + j] += static_cast<float>(part[i * c + j] - offset[j]);
    }
  }
}

void StandardRows::backward(const float* g, int64_t c, float* d_w) const {
  for (const DenseBlock& block : dense_) {
    kernels::dense_product(kernels::transposed(block.values.data(), block.columns), kernels::plain(g, c), block.columns,
                           c, rows_, d_w + block.first * c, c, {}, threads_);
  }
  if (sparse_.empty()) return;
  std::vector<double> sums(static_cast<size_t>(c), 0);
  for (int64_t i = 0; i < rows_; ++i) {
    for (int64_t j = 0; j < c; ++j) sums[j] += g[i * c + j];
  }
  for (const SparseBlock& block : sparse_) {
    float* to = d_w + block.first * c;
    kernels::csc_product(block.rows, g, c, to, threads_);
    for (int64_t d = 0; d < block.rows.columns; ++d) {
      const double scale = scale_[block.first + d], mean = mean_[block.first + d];
      for (int64_t j = 0; j < c; ++j) to[d * c + j] = static_cast<float>(scale * (to[d * c + j] - mean * sums[j]));
    }
  }
}

Buffer<float> StandardRows::row_products() const {
  Buffer<float> products(static_cast<size_t>(rows_ * rows_));
  const float* x = dense_.front().values.data();
  kernels::symmetric_product(kernels::plain(x, columns_), kernels::transposed(x, columns_), rows_, columns_,
                             products.data(), rows_, threads_);
  for (float& value : products) value /= static_cast<float>(rows_);
  return products;
}

Buffer<float> StandardRows::column_products() const {
  Buffer<float> products(static_cast<size_t>(columns_ * columns_));
  const float* x = dense_.front().values.data();
  kernels::symmetric_product(kernels::transposed(x, columns_), kernels::plain(x, columns_), columns_, rows_,
                             products.data(), columns_, threads_);
  for (float& value : products) value /= static_cast<float>(rows_);
  return products;
}

LinearScores StandardRows::unscaled(const float* w, const double* bias, int64_t c) const {
  LinearScores scores{columns_, c, std::vector<float>(static_cast<size_t>(columns_ * c)), {}};
  std::vector<double> shift(bias, bias + c);
  for (int64_t d = 0; d < columns_; ++d) {
    for (int64_t j = 0; j < c; ++j) {
      const double value = scale_[d] * w[d * c + j];
      scores.weights[d * c + j] = static_cast<float>(value);
      shift[j] -= mean_[d] * value;
    }
  }
  scores.bias.assign(shift.begin(), shift.end());
  return scores;
}

}  // namespace graphpae
