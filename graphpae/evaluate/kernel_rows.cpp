#include "graphpae/evaluate/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/kernels/dense_product.h"

namespace graphpae {
namespace {

constexpr int64_t kSampledRows = 400;  // for the scale of a kernel
constexpr double kDenseShare = 0.08;   // of values that are not zero, above which products are dense

struct ColumnLists {
  std::vector<int64_t> offsets;  // [D+1]
  std::vector<int32_t> rows;     // places in `chosen`
  std::vector<float> values;
};

ColumnLists columns_of(const Features& x, std::span<const int32_t> chosen) {
  ColumnLists lists;
  lists.offsets.assign(static_cast<size_t>(x.columns() + 1), 0);
  for (const int32_t id : chosen) {
    for (const int32_t c : x.sparse_row(id).columns) ++lists.offsets[c + 1];
  }
  for (int64_t c = 0; c < x.columns(); ++c) lists.offsets[c + 1] += lists.offsets[c];
  lists.rows.resize(static_cast<size_t>(lists.offsets.back()));
  lists.values.resize(lists.rows.size());
  std::vector<int64_t> place(lists.offsets.begin(), lists.offsets.end() - 1);
  for (size_t j = 0; j < chosen.size(); ++j) {
    const SparseRow row = x.sparse_row(chosen[j]);
    for (size_t k = 0; k < row.columns.size(); ++k) {
      const int64_t at = place[row.columns[k]]++;
      lists.rows[at] = static_cast<int32_t>(j);
      lists.values[at] = row.values[k];
    }
  }
  return lists;
}

// out[i,j] = sum over columns that both rows have of join(left, right).
template <class Join>
void join_sparse(const Features& x, std::span<const int32_t> left, std::span<const int32_t> right, const Join& join,
                 float* out, Threads threads) {
  const ColumnLists lists = columns_of(x, right);
  const int64_t n = std::ssize(right), groups = (std::ssize(left) + 63) / 64;
  parallel_tasks(threads, groups, [&](int64_t group) {
    for (int64_t i = group * 64; i < std::min<int64_t>(std::ssize(left), (group + 1) * 64); ++i) {
      float* sums = out + i * n;
      std::fill_n(sums, n, 0.0f);
      const SparseRow row = x.sparse_row(left[i]);
      for (size_t k = 0; k < row.columns.size(); ++k) {
        const float value = row.values[k];
        for (int64_t at = lists.offsets[row.columns[k]]; at < lists.offsets[row.columns[k] + 1]; ++at)
          sums[lists.rows[at]] += join(value, lists.values[at]);
      }
    }
  });
}

Buffer<float> dense_rows(const Features& x, std::span<const int32_t> chosen) {
  Buffer<float> rows(chosen.size() * static_cast<size_t>(x.columns()));
  for (size_t i = 0; i < chosen.size(); ++i) x.copy_row(chosen[i], rows.data() + i * x.columns());
  return rows;
}

void inner_products(const Features& x, std::span<const int32_t> left, std::span<const int32_t> right, float* out,
                    Threads threads) {
  const int64_t d = x.columns();
  const double share = static_cast<double>(x.nonzeros()) / std::max(1.0, static_cast<double>(x.rows() * d));
  if (x.is_sparse() && share < kDenseShare)
    return join_sparse(
        x, left, right, [](float a, float b) { return a * b; }, out, threads);
  const Buffer<float> a = dense_rows(x, left), b = dense_rows(x, right);
  kernels::dense_product(kernels::plain(a.data(), d), kernels::transposed(b.data(), d), std::ssize(left),
                         std::ssize(right), d, out, std::ssize(right), {}, threads);
}

// For each chosen row the sum of what `of` makes of its values.
template <class Of>
std::vector<double> row_sums(const Features& x, std::span<const int32_t> chosen, const Of& of) {
  std::vector<double> sums(chosen.size(), 0);
  for (size_t i = 0; i < chosen.size(); ++i) {
    const std::span<const float> values = x.is_sparse() ? x.sparse_row(chosen[i]).values : x.dense_row(chosen[i]);
    for (const float value : values) sums[i] += of(static_cast<double>(value));
  }
  return sums;
}

std::vector<double> squared_lengths(const Features& x, std::span<const int32_t> chosen) {
  return row_sums(x, chosen, [](double v) { return v * v; });
}

}  // namespace

const char* name_of(KernelForm form) {
  return form == KernelForm::linear ? "linear" : form == KernelForm::gaussian ? "gaussian" : "minmax";
}

Kernel::Kernel(std::string block, KernelForm form, std::shared_ptr<const Features> rows, double width)
    : block_(std::move(block)), form_(form), rows_(std::move(rows)) {
  const int64_t n = rows_->rows(), count = std::min(n, kSampledRows);
  if (form == KernelForm::minmax) {
    const auto values = rows_->is_sparse() ? rows_->values() : rows_->dense_values();
    if (std::any_of(values.begin(), values.end(), [](float v) { return v < 0; }))
      throw data_error(fmt::format("block {}: has negative values, min-max similarity is of counts", block_));
  }
  std::vector<int32_t> sample(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) sample[i] = static_cast<int32_t>(i * n / count);
  const auto average = [&](const Buffer<float>& k, bool diagonal) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < count; ++j) sum += !diagonal || i == j ? static_cast<double>(k[i * count + j]) : 0.0;
    }
    return sum / static_cast<double>(diagonal ? count : count * count);
  };
  if (form == KernelForm::gaussian) {
    Buffer<float> products(static_cast<size_t>(count * count));
    inner_products(*rows_, sample, sample, products.data(), {});
    spread_ = 2 * (average(products, true) - average(products, false)) * width;
    if (!(spread_ > 1e-12)) spread_ = 1;
  }
  const Buffer<float> k = unscaled(sample, sample, {});
  const double size = average(k, true) - average(k, false);
  constant_ = !(size > 1e-9);
  scale_ = constant_ ? 1 : 1 / size;
}

Buffer<float> Kernel::unscaled(std::span<const int32_t> left, std::span<const int32_t> right, Threads threads) const {
  const int64_t n = std::ssize(right);
  Buffer<float> k(left.size() * right.size());
  if (form_ == KernelForm::minmax) {
    const auto smaller = [](float a, float b) { return std::min(a, b); };
    if (!rows_->is_sparse()) throw data_error(fmt::format("block {}: min-max similarity is of sparse counts", block_));
    join_sparse(*rows_, left, right, smaller, k.data(), threads);
  } else {
    inner_products(*rows_, left, right, k.data(), threads);
  }
  if (form_ == KernelForm::linear) return k;
  const bool counts = form_ == KernelForm::minmax;
  const auto itself = [](double v) { return v; };
  const std::vector<double> a = counts ? row_sums(*rows_, left, itself) : squared_lengths(*rows_, left);
  const std::vector<double> b = counts ? row_sums(*rows_, right, itself) : squared_lengths(*rows_, right);
  const int64_t groups = (std::ssize(left) + 63) / 64;
  parallel_tasks(threads, groups, [&](int64_t group) {
    for (int64_t i = group * 64; i < std::min<int64_t>(std::ssize(left), (group + 1) * 64); ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const double both = k[i * n + j];
        if (counts) {
          const double either = a[i] + b[j] - both;
          k[i * n + j] = either > 0 ? static_cast<float>(both / either) : 1.0f;
        } else {
          k[i * n + j] = static_cast<float>(std::exp(-std::max(0.0, a[i] + b[j] - 2 * both) / spread_));
        }
      }
    }
  });
  return k;
}

Buffer<float> Kernel::between(std::span<const int32_t> left, std::span<const int32_t> right, Threads threads) const {
  Buffer<float> k = unscaled(left, right, threads);
  for (float& value : k) value = static_cast<float>(scale_ * value);
  return k;
}

std::vector<double> Kernel::with_itself(std::span<const int32_t> ids) const {
  if (form_ != KernelForm::linear) return std::vector<double>(ids.size(), scale_);
  std::vector<double> squares = squared_lengths(*rows_, ids);
  for (double& square : squares) square *= scale_;
  return squares;
}

Features unit_rows(const Features& rows) {
  const auto divided = [](std::span<const float> from, float* to) {
    double length = 0;
    for (const float v : from) length += static_cast<double>(v) * v;
    const double factor = length > 0 ? 1 / std::sqrt(length) : 0;
    for (size_t k = 0; k < from.size(); ++k) to[k] = static_cast<float>(from[k] * factor);
  };
  if (!rows.is_sparse()) {
    Buffer<float> values(static_cast<size_t>(rows.rows() * rows.columns()));
    for (int64_t i = 0; i < rows.rows(); ++i) divided(rows.dense_row(i), values.data() + i * rows.columns());
    return Features::dense(rows.rows(), rows.columns(), std::move(values));
  }
  std::vector<float> values(rows.values().size());
  for (int64_t i = 0; i < rows.rows(); ++i) divided(rows.sparse_row(i).values, values.data() + rows.offsets()[i]);
  return Features::sparse(rows.rows(), rows.columns(), {rows.offsets().begin(), rows.offsets().end()},
                          {rows.indices().begin(), rows.indices().end()}, std::move(values));
}

Features standard_columns(const Features& rows) {
  const int64_t n = rows.rows(), d = rows.columns();
  Buffer<float> values(static_cast<size_t>(n * d));
  for (int64_t i = 0; i < n; ++i) rows.copy_row(i, values.data() + i * d);
  std::vector<double> mean(static_cast<size_t>(d), 0), square(mean);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < d; ++c) mean[c] += static_cast<double>(values[i * d + c]) / static_cast<double>(n);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < d; ++c) {
      const double off = values[i * d + c] - mean[c];
      square[c] += off * off / static_cast<double>(n);
    }
  }
  const double shrink = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(d, 1)));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < d; ++c) {
      const bool same = square[c] <= 1e-12 * (1 + mean[c] * mean[c]);
      const double z = same ? 0 : (values[i * d + c] - mean[c]) / std::sqrt(square[c]);
      values[i * d + c] = static_cast<float>(shrink * std::clamp(z, -5.0, 5.0));
    }
  }
  return Features::dense(n, d, std::move(values));
}

}  // namespace graphpae
