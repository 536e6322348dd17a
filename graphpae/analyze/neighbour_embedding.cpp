#include "graphpae/analyze/neighbour_embedding.h"

#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <cmath>
#include <compare>

namespace graphpae {
namespace {

// How alike rows are, symmetric; all entries add up to one.
using Affinities = Eigen::SparseMatrix<double, Eigen::RowMajor>;

struct Neighbour {
  double distance;  // squared
  int32_t row;
  auto operator<=>(const Neighbour&) const = default;
};

std::vector<Neighbour> nearest(std::span<const double> rows, int64_t n, int64_t d, int64_t i, int64_t k) {
  std::vector<Neighbour> all;
  all.reserve(static_cast<size_t>(n));
  const double* a = rows.data() + i * d;
  for (int64_t j = 0; j < n; ++j) {
    if (j == i) continue;
    const double* b = rows.data() + j * d;
    double sum = 0;
    for (int64_t c = 0; c < d; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    all.push_back({sum, static_cast<int32_t>(j)});
  }
  std::nth_element(all.begin(), all.begin() + (k - 1), all.end());
  all.resize(static_cast<size_t>(k));
  std::sort(all.begin(), all.end());
  return all;
}

// Gaussian weights of neighbours whose entropy is log(perplexity).
std::vector<double> weights(const std::vector<Neighbour>& neighbours, double perplexity) {
  const double wanted = std::log(perplexity), nearest_distance = neighbours.front().distance;
  double low = 0, high = std::numeric_limits<double>::infinity(), precision = 1;
  const double scale = neighbours.back().distance - nearest_distance;
  if (scale > 0) precision = 1 / scale;
  std::vector<double> result(neighbours.size());
  for (int step = 0; step < 100; ++step) {
    double sum = 0, weighted = 0;
    for (size_t k = 0; k < neighbours.size(); ++k) {
      const double distance = neighbours[k].distance - nearest_distance;
      result[k] = std::exp(-precision * distance);
      sum += result[k];
      weighted += distance * result[k];
    }
    const double entropy = std::log(sum) + precision * weighted / sum;
    for (double& value : result) value /= sum;
    if (std::abs(entropy - wanted) < 1e-5) break;
    if (entropy > wanted) {
      low = precision;
      precision = std::isinf(high) ? 2 * precision : (precision + high) / 2;
    } else {
      high = precision;
      precision = (precision + low) / 2;
    }
  }
  return result;
}

Affinities affinities(std::span<const double> rows, int64_t n, int64_t d, double perplexity, Threads threads) {
  const int64_t k = std::min<int64_t>(n - 1, static_cast<int64_t>(3 * perplexity));
  std::vector<Neighbour> neighbours(static_cast<size_t>(n * k));
  std::vector<double> conditional(static_cast<size_t>(n * k));
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads.count)
  for (int64_t i = 0; i < n; ++i) {
    const std::vector<Neighbour> found = nearest(rows, n, d, i, k);
    const std::vector<double> weight = weights(found, perplexity);
    std::copy(found.begin(), found.end(), neighbours.begin() + i * k);
    std::copy(weight.begin(), weight.end(), conditional.begin() + i * k);
  }
  // P = (C + C^T) / 2n: entries that are there twice are added up.
  std::vector<Eigen::Triplet<double>> entries;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t e = i * k; e < (i + 1) * k; ++e) {
      const double half = conditional[e] / (2 * static_cast<double>(n));
      entries.emplace_back(i, neighbours[e].row, half);
      entries.emplace_back(neighbours[e].row, i, half);
    }
  }
  Affinities result(n, n);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

using Point = std::array<double, 2>;

// Points in squares of squares: what is far away acts as one.
class Quadtree {
 public:
  explicit Quadtree(const std::vector<Point>& points) {
    Point low = points.front(), high = low;
    for (const Point& p : points) {
      for (int c = 0; c < 2; ++c) {
        low[c] = std::min(low[c], p[c]);
        high[c] = std::max(high[c], p[c]);
      }
    }
    const double width = std::max({high[0] - low[0], high[1] - low[1], 1e-12});
    cells_.push_back({{(low[0] + high[0]) / 2, (low[1] + high[1]) / 2}, width * 1.0001});
    for (const Point& p : points) insert(p);
    for (Cell& cell : cells_) {
      for (double& sum : cell.centre_of_mass) sum /= std::max(cell.count, 1.0);
    }
  }

  // Adds sum over the others of q^2 (p - x) to `force` and returns the sum of q, q = 1 / (1 + |p - x|^2).
  double repulsion(const Point& p, double theta, Point& force) const {
    double total = 0;
    std::array<int32_t, 4 * (kDepth + 2)> stack;
    int size = 0;
    stack[size++] = 0;
    while (size > 0) {
      const Cell& cell = cells_[stack[--size]];
      if (cell.count == 0) continue;
      const double x = p[0] - cell.centre_of_mass[0], y = p[1] - cell.centre_of_mass[1], square = x * x + y * y;
      if (cell.children < 0 || cell.width * cell.width < theta * theta * square) {
        const double q = 1 / (1 + square);
        total += cell.count * q;
        force[0] += cell.count * q * q * x;
        force[1] += cell.count * q * q * y;
      } else {
        for (int c = 0; c < 4; ++c) stack[size++] = cell.children + c;
      }
    }
    return total - 1;  // p itself is at no distance from itself
  }

 private:
  static constexpr int kDepth = 48;  // points closer than that share a cell
  struct Cell {
    Point middle;
    double width;
    Point centre_of_mass{0, 0};  // the sum of points until all are in
    double count = 0;
    int32_t children = -1;  // the first of four
    Point only{0, 0};       // of a cell with one point, or several at the same place
  };

  static int quarter(const Cell& cell, const Point& p) { return (p[0] > cell.middle[0]) + 2 * (p[1] > cell.middle[1]); }

  void split(int32_t index) {
    const Cell parent = cells_[index];
    cells_[index].children = static_cast<int32_t>(cells_.size());
    for (int c = 0; c < 4; ++c) {
      const double quarter_width = parent.width / 4;
      cells_.push_back({{parent.middle[0] + (c % 2 ? quarter_width : -quarter_width),
                         parent.middle[1] + (c / 2 ? quarter_width : -quarter_width)},
                        parent.width / 2});
    }
    Cell& child = cells_[cells_[index].children + quarter(parent, parent.only)];
    child.count = parent.count;
    child.only = parent.only;
    child.centre_of_mass = {parent.only[0] * parent.count, parent.only[1] * parent.count};
  }

  void insert(const Point& p) {
    int32_t index = 0;
    for (int depth = 0;; ++depth) {
      const bool leaf = cells_[index].children < 0;
      if (leaf && (cells_[index].count == 0 || cells_[index].only == p || depth == kDepth)) {
        add(index, p);
        cells_[index].only = p;
        return;
      }
      if (leaf) split(index);
      add(index, p);
      index = cells_[index].children + quarter(cells_[index], p);
    }
  }

  void add(int32_t index, const Point& p) {
    Cell& cell = cells_[index];
    cell.count += 1;
    for (int c = 0; c < 2; ++c) cell.centre_of_mass[c] += p[c];
  }

  std::vector<Cell> cells_;
};

// Where points start: the first two columns, made small.
std::vector<Point> start_of(std::span<const double> rows, int64_t n, int64_t d) {
  std::vector<Point> points(static_cast<size_t>(n), Point{0, 0});
  double square = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < std::min<int64_t>(d, 2); ++c) points[i][c] = rows[i * d + c];
    square += points[i][0] * points[i][0];
  }
  const double deviation = std::sqrt(square / static_cast<double>(n));
  for (int64_t i = 0; i < n; ++i) {
    // Equal rows start a little apart, each at its own place on a spiral.
    const double turn = 2.399963 * static_cast<double>(i), radius = 1e-7 * std::sqrt(static_cast<double>(i));
    for (double& value : points[i]) value *= deviation > 0 ? 1e-4 / deviation : 0;
    points[i][0] += radius * std::cos(turn);
    points[i][1] += radius * std::sin(turn);
  }
  return points;
}

}  // namespace

std::vector<double> neighbour_embedding(std::span<const double> rows, int64_t n, int64_t d,
                                        const NeighbourEmbeddingOptions& options, Threads threads) {
  std::vector<double> result(static_cast<size_t>(2 * n), 0.0);
  if (n < 4) {  // nothing to arrange
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < std::min<int64_t>(d, 2); ++c) result[2 * i + c] = rows[i * d + c];
    }
    return result;
  }
  constexpr double kExaggeration = 12, kEarlyShare = 1.0 / 3;
  constexpr int64_t kParallelRows = 500;
  if (n < kParallelRows) threads.count = 1;  // a step is shorter than waking a thread
  const double perplexity = std::min(options.perplexity, static_cast<double>(n - 1) / 3);
  const Affinities p = affinities(rows, n, d, perplexity, threads);
  std::vector<Point> points = start_of(rows, n, d), steps(points.size(), Point{0, 0}),
                     gains(points.size(), Point{1, 1}), attraction(points.size()), repulsion(points.size());
  std::vector<double> sums(points.size());
  const double rate = std::max(static_cast<double>(n) / kExaggeration, 50.0);
  const auto early = static_cast<int64_t>(kEarlyShare * static_cast<double>(options.iterations));
  for (int64_t step = 0; step < options.iterations; ++step) {
    const double exaggeration = step < early ? kExaggeration : 1, momentum = step < early ? 0.5 : 0.8;
    const Quadtree tree(points);
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads.count)
    for (int64_t i = 0; i < n; ++i) {
      Point force{0, 0};
      for (Affinities::InnerIterator entry(p, i); entry; ++entry) {
        const Point& other = points[entry.col()];
        const double x = points[i][0] - other[0], y = points[i][1] - other[1], q = entry.value() / (1 + x * x + y * y);
        force[0] += q * x;
        force[1] += q * y;
      }
      attraction[i] = force;
      repulsion[i] = {0, 0};
      sums[i] = tree.repulsion(points[i], options.theta, repulsion[i]);
    }
    double normaliser = 0;
    for (const double sum : sums) normaliser += sum;
    Point mean{0, 0};
    for (int64_t i = 0; i < n; ++i) {
      for (int c = 0; c < 2; ++c) {
        const double gradient = 4 * (exaggeration * attraction[i][c] - repulsion[i][c] / normaliser);
        // Where gradient and step disagree the step is on its way: faster.
        double& gain = gains[i][c];
        gain = (gradient > 0) != (steps[i][c] > 0) ? gain + 0.2 : std::max(0.8 * gain, 0.01);
        steps[i][c] = momentum * steps[i][c] - rate * gain * gradient;
        points[i][c] += steps[i][c];
        mean[c] += points[i][c] / static_cast<double>(n);
      }
    }
    for (Point& point : points) {
      for (int c = 0; c < 2; ++c) point[c] -= mean[c];
    }
    if (options.progress) options.progress(step + 1, options.iterations);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int c = 0; c < 2; ++c) result[2 * i + c] = points[i][c];
  }
  return result;
}

}  // namespace graphpae
