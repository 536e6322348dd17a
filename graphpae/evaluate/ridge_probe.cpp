#include "graphpae/evaluate/ridge_probe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graphpae/evaluate/gram.h"
#include "graphpae/kernels/float64_kernels.h"
#include "graphpae/positions/symmetric_eigen.h"

namespace graphpae {
namespace {

constexpr auto kRidgeGrid = static_cast<int64_t>(kPenaltyGrid.size());
constexpr int32_t kNoFold = -1;  // held out: nothing

// (x - mean) * scale of columns; empty: rows of length one instead.
struct ColumnScaling {
  std::vector<double> mean, scale;
};

ColumnScaling learn_scaling(const Features& rows, std::span<const int32_t> train) {
  const auto columns = static_cast<size_t>(rows.columns());
  const auto count = static_cast<double>(train.size());
  ColumnScaling scaling{std::vector<double>(columns, 0), std::vector<double>(columns, 0)};
  std::vector<double> row(columns);
  for (const int32_t id : train) {
    rows.copy_row(id, row.data());
    for (size_t d = 0; d < columns; ++d) scaling.mean[d] += row[d] / count;
  }
  for (const int32_t id : train) {
    rows.copy_row(id, row.data());
    for (size_t d = 0; d < columns; ++d) scaling.scale[d] += std::pow(row[d] - scaling.mean[d], 2) / count;
  }
  double live = 0;
  const auto changes = [&](size_t d) {
    return scaling.scale[d] > 0 && scaling.scale[d] > 1e-12 * scaling.mean[d] * scaling.mean[d];
  };
  for (size_t d = 0; d < columns; ++d) live += changes(d) ? 1 : 0;
  for (size_t d = 0; d < columns; ++d) scaling.scale[d] = changes(d) ? 1 / std::sqrt(scaling.scale[d] * live) : 0;
  return scaling;
}

// Row `id`, scaled, [columns]. Of length one a row of zeros stays one.
void scaled_row(const Features& rows, int64_t id, const ColumnScaling& scaling, double* out) {
  rows.copy_row(id, out);
  if (!scaling.scale.empty()) {
    for (int64_t d = 0; d < rows.columns(); ++d) out[d] = (out[d] - scaling.mean[d]) * scaling.scale[d];
    return;
  }
  const double length = std::sqrt(kernels::dot(out, out, rows.columns()));
  if (length == 0) return;
  for (int64_t d = 0; d < rows.columns(); ++d) out[d] /= length;
}

void add_scaled(double factor, const double* x, int64_t n, double* sum) {
  for (int64_t i = 0; i < n; ++i) sum[i] += factor * x[i];
}

// One model per penalty and task, [grid,tasks]: a row x is predicted as weights . x + intercept.
struct Models {
  std::vector<double> weights;     // [grid,tasks,columns]
  std::vector<double> intercepts;  // [grid,tasks]
};

class RidgeGrid {
 public:
  // x [n,columns], y [n,tasks].
  RidgeGrid(const std::vector<double>& x, int64_t columns, std::span<const double> y, int64_t tasks,
            const std::vector<int32_t>& fold_of, Threads threads)
      : x_(x), y_(y), fold_of_(fold_of), n_(static_cast<int64_t>(fold_of.size())), columns_(columns), tasks_(tasks) {
    if (columns_ > n_) {
      row_products_ = GramMatrix(columns_, n_, [&](int64_t d, int64_t i) {
                        return x_[i * columns_ + d];
                      }).of_rows(0, columns_, threads);
      return;
    }
    const GramMatrix gram(n_, columns_, [&](int64_t i, int64_t d) { return x_[i * columns_ + d]; });
    for (int32_t fold = 0; fold < kFolds; ++fold) {
      const auto [first, last] = std::equal_range(fold_of_.begin(), fold_of_.end(), fold);
      fold_products_.push_back(gram.of_rows(first - fold_of_.begin(), last - fold_of_.begin(), threads));
    }
  }

  // Fitted on the rows outside `fold`.
  Models solve(int32_t fold) const {
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < n_; ++i) {
      if (fold_of_[i] != fold) kept.push_back(i);
    }
    const auto count = static_cast<double>(kept.size());
    std::vector<double> mean_x(static_cast<size_t>(columns_), 0), mean_y(static_cast<size_t>(tasks_), 0);
    for (const int64_t i : kept) {
      add_scaled(1 / count, &x_[i * columns_], columns_, mean_x.data());
      add_scaled(1 / count, &y_[i * tasks_], tasks_, mean_y.data());
    }
    Models models{fold_products_.empty() ? from_rows(kept, mean_y) : from_columns(fold, kept, mean_x, mean_y), {}};
    for (int64_t m = 0; m < kRidgeGrid * tasks_; ++m) {
      models.intercepts.push_back(mean_y[m % tasks_] -
                                  kernels::dot(mean_x.data(), &models.weights[m * columns_], columns_));
    }
    return models;
  }

 private:
  // w = (X^T X + penalty)^-1 X^T y with centred X and y.
  std::vector<double> from_columns(int32_t fold, const std::vector<int64_t>& kept, const std::vector<double>& mean_x,
                                   const std::vector<double>& mean_y) const {
    const auto count = static_cast<double>(kept.size());
    std::vector<double> gram(static_cast<size_t>(columns_ * columns_), 0);
    for (int32_t other = 0; other < kFolds; ++other) {
      if (other != fold) add_scaled(1, fold_products_[other].data(), columns_ * columns_, gram.data());
    }
    for (int64_t d = 0; d < columns_; ++d)
      add_scaled(-count * mean_x[d], mean_x.data(), columns_, gram.data() + d * columns_);
    std::vector<double> moments(static_cast<size_t>(tasks_ * columns_), 0);  // X^T y [tasks,columns]
    for (const int64_t i : kept) {
      for (int64_t t = 0; t < tasks_; ++t)
        add_scaled(y_[i * tasks_ + t] - mean_y[t], &x_[i * columns_], columns_, &moments[t * columns_]);
    }
    return shrink(gram, columns_, moments);
  }

  // w = X^T (X X^T + penalty)^-1 y: the same with the eigenvectors of the smaller matrix.
  std::vector<double> from_rows(const std::vector<int64_t>& kept, const std::vector<double>& mean_y) const {
    const auto count = static_cast<int64_t>(kept.size());
    std::vector<double> gram(static_cast<size_t>(count * count)), means(static_cast<size_t>(count), 0);
    double mean = 0;
    for (int64_t a = 0; a < count; ++a) {
      for (int64_t b = 0; b < count; ++b) gram[a * count + b] = row_products_[kept[a] * n_ + kept[b]];
      means[a] = std::accumulate(&gram[a * count], &gram[a * count] + count, 0.0) / static_cast<double>(count);
      mean += means[a] / static_cast<double>(count);
    }
    for (int64_t a = 0; a < count; ++a) {
      for (int64_t b = 0; b < count; ++b) gram[a * count + b] += mean - means[a] - means[b];
    }
    std::vector<double> centred(static_cast<size_t>(tasks_ * count));
    for (int64_t t = 0; t < tasks_; ++t) {
      for (int64_t a = 0; a < count; ++a) centred[t * count + a] = y_[kept[a] * tasks_ + t] - mean_y[t];
    }
    const std::vector<double> factors = shrink(gram, count, centred);
    std::vector<double> weights(static_cast<size_t>(kRidgeGrid * tasks_ * columns_), 0);
    for (int64_t m = 0; m < kRidgeGrid * tasks_; ++m) {
      // The factors add up to zero, so that the rows need not be centred.
      for (int64_t a = 0; a < count; ++a)
        add_scaled(factors[m * count + a], &x_[kept[a] * columns_], columns_, &weights[m * columns_]);
    }
    return weights;
  }

  // (matrix + penalty)^-1 b for all penalties: b [tasks,n] -> [grid,tasks,n].
  std::vector<double> shrink(const std::vector<double>& matrix, int64_t n, const std::vector<double>& b) const {
    const SymmetricEigen eigen = symmetric_eigen(matrix, n);
    std::vector<double> result(static_cast<size_t>(kRidgeGrid * tasks_ * n), 0);
    for (int64_t j = 0; j < n; ++j) {
      const double* vector = &eigen.vectors[j * n];
      for (int64_t t = 0; t < tasks_; ++t) {
        const double share = kernels::dot(vector, &b[t * n], n);
        for (int64_t k = 0; k < kRidgeGrid; ++k)
          add_scaled(share / (std::max(eigen.values[j], 0.0) + kPenaltyGrid[k]), vector, n,
                     &result[(k * tasks_ + t) * n]);
      }
    }
    return result;
  }

  const std::vector<double>& x_;
  std::span<const double> y_;
  const std::vector<int32_t>& fold_of_;  // [n] ascending
  int64_t n_, columns_, tasks_;
  std::vector<std::vector<double>> fold_products_;  // X^T X of each fold, if there are no more columns than rows
  std::vector<double> row_products_;                // X X^T otherwise
};

}  // namespace

std::vector<FittedProbe> ridge_probe(const Features& rows, std::span<const int32_t> train,
                                     std::span<const double> targets, int64_t tasks, std::span<const int32_t> asked,
                                     Threads threads, RowScaling how) {
  const auto n = static_cast<int64_t>(train.size());
  const int64_t columns = rows.columns();
  const std::vector<int32_t> fold_of = contiguous_folds(n);
  std::vector<double> x(static_cast<size_t>(n * columns)), shift(static_cast<size_t>(columns), 0);
  const ColumnScaling scaling = how == RowScaling::columns ? learn_scaling(rows, train) : ColumnScaling();
  for (int64_t i = 0; i < n; ++i) {
    scaled_row(rows, train[i], scaling, &x[i * columns]);
    add_scaled(1 / static_cast<double>(n), &x[i * columns], columns, shift.data());
  }
  // The result does not depend on where the origin is, but its rounding does.
  for (int64_t i = 0; i < n; ++i) add_scaled(-1, shift.data(), columns, &x[i * columns]);

  const RidgeGrid grid(x, columns, targets, tasks, fold_of, threads);
  std::vector<std::vector<double>> errors(kFolds);  // RMSE [grid,tasks]
  Models final_models;
  parallel_tasks(threads, kFolds + 1, [&](int64_t task) {
    if (task == kFolds) {
      final_models = grid.solve(kNoFold);
      return;
    }
    const Models models = grid.solve(static_cast<int32_t>(task));
    std::vector<double>& squares = errors[task];
    squares.assign(models.intercepts.size(), 0);
    double held_out = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (fold_of[i] != task) continue;
      ++held_out;
      for (size_t m = 0; m < squares.size(); ++m) {
        const double predicted =
            models.intercepts[m] + kernels::dot(&models.weights[m * columns], &x[i * columns], columns);
        const double error = predicted - targets[i * tasks + m % tasks];
        squares[m] += error * error;
      }
    }
    for (double& square : squares) square = std::sqrt(square / held_out);
  });

  std::vector<FittedProbe> probes(static_cast<size_t>(tasks));
  std::vector<int64_t> chosen;  // index of a model
  for (int64_t t = 0; t < tasks; ++t) {
    FittedProbe& probe = probes[t];
    for (int64_t k = 0; k < kRidgeGrid; ++k) {
      double sum = 0;
      for (const auto& fold : errors) sum -= fold[k * tasks + t];
      probe.scores.push_back(sum / kFolds);
    }
    const int64_t best = best_penalty(probe.scores);
    probe.penalty = kPenaltyGrid[best];
    chosen.push_back(best * tasks + t);
  }
  std::vector<double> row(static_cast<size_t>(columns));
  for (const int32_t id : asked) {
    scaled_row(rows, id, scaling, row.data());
    add_scaled(-1, shift.data(), columns, row.data());
    for (int64_t t = 0; t < tasks; ++t) {
      const int64_t m = chosen[t];
      probes[t].predictions.push_back(final_models.intercepts[m] +
                                      kernels::dot(&final_models.weights[m * columns], row.data(), columns));
    }
  }
  return probes;
}

}  // namespace graphpae
