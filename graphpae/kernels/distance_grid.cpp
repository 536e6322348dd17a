#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "graphpae/kernels/distance_table.h"
#include "graphpae/kernels/row_ranges.h"

namespace graphpae::kernels {
namespace {

constexpr int64_t kParts = 32;                // of the distances, for counting
constexpr int kLeastBits = 2, kMostBits = 6;  // an octave has 4 to 64 bins
constexpr int64_t kPerBin = 350;              // distances, four octaves or so taken together, that a bin should have
constexpr int64_t kMostBins = 2048;           // distances beyond are exact
constexpr int64_t kMostCells = 4096;          // of a bin

// The Gaussians as the size of the cells depends on them.
struct Shapes {
  std::vector<double> means, stds, peaks, levels;  // [G]; a Gaussian times its largest and its root mean square weight
  double bias = 0;                                 // mean square

  explicit Shapes(const DistanceEmbedding& e) {
    for (int64_t k = 0; k < e.kernels; ++k) {
      const double s = std::abs(static_cast<double>(e.stds[k])) + 1e-5;
      const double factor = e.density ? 1 / (kGaussianFactor * s) : 1.0;
      float most = 0, squares = 0;
      for (int64_t j = 0; j < e.hidden; ++j) {
        const float w = e.weight1[k * e.hidden + j];
        most = std::max(most, std::abs(w));
        squares += w * w;
      }
      means.push_back(e.means[k]);
      stds.push_back(s);
      peaks.push_back(factor * most);
      levels.push_back(factor * std::sqrt(squares / static_cast<double>(e.hidden)));
    }
    for (int64_t j = 0; j < e.hidden; ++j) bias += e.bias1[j] * e.bias1[j];
    bias /= static_cast<double>(e.hidden);
  }

  // The mean square of the hidden layer, about.
  double level(double p) const {
    double sum = bias;
    for (size_t k = 0; k < means.size(); ++k) {
      const double u = (p - means[k]) / stds[k];
      if (u * u < 50) sum += levels[k] * levels[k] * std::exp(-u * u);
    }
    return sum;
  }

  // The eighth root of an interpolation error is this much times the width of cells in [low, high]. The error of a
  // function is at most 0.00107 h^8 times its eighth derivative: for a Gaussian 218 exp(-u^2 / 4) / s^8, for the GELU
  // 48 times the eighth power of the slope of its argument. `scale` is the size of what the error is compared with.
  double rate(double low, double high, double scale) const {
    double error = 0, slopes = 0;
    for (size_t k = 0; k < means.size(); ++k) {
      const double s = stds[k], u = std::max({0.0, low - means[k], means[k] - high}) / s;
      if (u > 12) continue;
      const double quarter = std::exp(-u * u / 4), s2 = s * s, s4 = s2 * s2;
      error += 0.233 * peaks[k] / scale * quarter / (s4 * s4);
      const double slope = peaks[k] / s * (u < 1 ? 0.6066 : u * quarter * quarter);
      slopes += slope * slope;
    }
    return std::pow(error + 0.05 * slopes * slopes * slopes * slopes, 1.0 / 8);
  }
};

// The bin of a distance >= 0, if below kMostBins.
int64_t bin_of(const DistanceGrid& grid, float distance) {
  const int shift = 23 - grid.bits;
  return (std::bit_cast<uint32_t>(distance + grid.offset) >> shift) - (std::bit_cast<uint32_t>(grid.offset) >> shift);
}

bool is_in_bin(const DistanceGrid& grid, float distance) {
  return distance > 0 && distance < 1e30f && bin_of(grid, distance) < kMostBins;
}

float bin_start(const DistanceGrid& grid, int64_t bin) {
  const int shift = 23 - grid.bits;
  const auto bits = ((std::bit_cast<uint32_t>(grid.offset) >> shift) + static_cast<uint32_t>(bin)) << shift;
  return std::bit_cast<float>(bits) - grid.offset;
}

// Bins have equal widths up to here. Beyond the largest mean only wide Gaussians are left, and far below the largest
// distance bins would be finer than they need be. A power of two, so that the borders of bins have few digits.
float bin_offset(const DistanceEmbedding& embedding, const float* distances, int64_t count, Threads threads) {
  float mean = 0, largest = 0;
  for (int64_t k = 0; k < embedding.kernels; ++k) mean = std::max(mean, std::abs(embedding.means[k]));
#pragma omp parallel for schedule(static) num_threads(threads.count) reduction(max : largest)
  for (int64_t i = 0; i < count; ++i) largest = distances[i] > largest ? distances[i] : largest;
  return std::ldexp(1.0f, std::ilogb(std::clamp(std::min(mean, largest / 8), 1e-6f, 1e6f)));
}

// What the error of the hidden layer is compared with: its root mean square over all distances of bins.
double mean_level(const Shapes& shapes, const DistanceGrid& grid, Threads threads) {
  const auto bins = static_cast<int64_t>(grid.bins.size());
  std::vector<double> levels(bins, 0.0);
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t b = 0; b < bins; ++b) {
    if (grid.count[b] > 0) levels[b] = shapes.level(grid.bins[b].start + grid.bins[b].width / 2);
  }
  double sum = 0, total = 1e-30;
  for (int64_t b = 0; b < bins; ++b) {
    sum += static_cast<double>(grid.count[b]) * levels[b];
    total += static_cast<double>(grid.count[b]);
  }
  return std::max(std::sqrt(sum / total), 1e-30);
}

// How many cells a bin needs if its outer points are as far outside as those of cells of width `step`.
double needed_cells(const Shapes& shapes, const DistanceGrid::Bin& bin, double step, double scale, double tolerance) {
  const double low = bin.start, width = bin.width;
  return width * shapes.rate(low - 3 * step, low + width + 4 * step, scale) / std::pow(tolerance, 1.0 / 8);
}

// How many cells of a bin, a power of two and at most `most`, are enough; 0 if there are none.
int32_t enough_cells(const Shapes& shapes, const DistanceGrid::Bin& bin, int64_t most, double scale, double tolerance) {
  const double least = needed_cells(shapes, bin, 0, scale, tolerance);
  if (!(least <= static_cast<double>(most))) return 0;
  auto cells = static_cast<int32_t>(std::bit_ceil(static_cast<uint32_t>(std::ceil(std::max(least, 1.0)))));
  for (; cells <= most; cells *= 2) {
    if (needed_cells(shapes, bin, static_cast<double>(bin.width) / cells, scale, tolerance) <= cells) return cells;
  }
  return 0;
}

}  // namespace

DistanceGrid make_distance_grid(const DistanceEmbedding& embedding, const float* distances, int64_t count,
                                Threads threads, double tolerance) {
  DistanceGrid grid;
  grid.offset = bin_offset(embedding, distances, count, threads);
  grid.bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(count / kPerBin))) - 1;
  grid.bits = std::clamp(grid.bits, kLeastBits, kMostBits);

  using Counts = std::array<int32_t, kMostBins>;
  std::vector<Counts> counts(kParts);
  for_parts(kParts, threads.count, [&](int64_t part) {
    const auto [first, last] = part_of(count, part, kParts);
    Counts& own = counts[part];
    own.fill(0);
    for (int64_t i = first; i < last; ++i) {
      if (is_in_bin(grid, distances[i])) ++own[bin_of(grid, distances[i])];
    }
  });
  int64_t used = 0;
  grid.count.assign(kMostBins, 0);
  for (int64_t b = 0; b < kMostBins; ++b) {
    for (const Counts& own : counts) grid.count[b] += own[b];
    if (grid.count[b] > 0) used = b + 1;
  }
  grid.count.resize(used);
  grid.bins.resize(used);
  for (int64_t b = 0; b < used; ++b) {
    const float start = bin_start(grid, b);
    grid.bins[b] = {start, bin_start(grid, b + 1) - start, 0, 0, 0};
  }

  const Shapes shapes(embedding);
  const double scale = mean_level(shapes, grid, threads);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads.count)
  for (int64_t b = 0; b < used; ++b) {
    if (grid.count[b] <= DistanceGrid::kNodes) continue;
    const int64_t most = std::min(kMostCells, grid.count[b] - DistanceGrid::kNodes);  // no more points than distances
    grid.bins[b].cells = enough_cells(shapes, grid.bins[b], most, scale, tolerance);
  }
  grid.points.push_back(0.0f);
  for (DistanceGrid::Bin& bin : grid.bins) {
    bin.first = static_cast<int32_t>(grid.points.size());
    if (bin.cells == 0) continue;
    const float step = bin.width / static_cast<float>(bin.cells);
    bin.scale = 1 / step;
    for (int64_t i = -3; i <= bin.cells + 4; ++i) grid.points.push_back(bin.start + static_cast<float>(i) * step);
  }
  grid.tabulated = static_cast<int64_t>(grid.points.size());

  grid.places.resize(count);
  std::vector<std::vector<float>> singles(kParts);
  for_parts(kParts, threads.count, [&](int64_t part) {
    const auto [first, last] = part_of(count, part, kParts);
    for (int64_t i = first; i < last; ++i) {
      const float p = distances[i];
      DistanceGrid::Place& place = grid.places[i];
      place = {~0, 0.0f};
      if (p == 0) continue;
      const DistanceGrid::Bin* bin = is_in_bin(grid, p) ? &grid.bins[bin_of(grid, p)] : nullptr;
      if (bin == nullptr || bin->cells == 0) {
        singles[part].push_back(p);
        place.at = -1 - static_cast<int32_t>(singles[part].size());  // among those of this part; see below
        continue;
      }
      const float x = (p - bin->start) * bin->scale;  // exact: `start` is 0 or at least half of p, `scale` is 2^n
      const int32_t cell = std::clamp(static_cast<int32_t>(x), 0, bin->cells - 1);
      place = {bin->first + cell, x - static_cast<float>(cell)};
    }
  });
  // Distances that are points follow the table, part by part.
  for_parts(kParts, threads.count, [&](int64_t part) {
    if (singles[part].empty()) return;
    auto before = static_cast<int32_t>(grid.tabulated) - 1;
    for (int64_t other = 0; other < part; ++other) before += static_cast<int32_t>(singles[other].size());
    const auto [first, last] = part_of(count, part, kParts);
    for (int64_t i = first; i < last; ++i) {
      if (grid.places[i].at < -1) grid.places[i].at -= before;
    }
  });
  for (const auto& own : singles) grid.points.insert(grid.points.end(), own.begin(), own.end());
  return grid;
}

}  // namespace graphpae::kernels
