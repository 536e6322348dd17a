#include "graphpae/kernels/distance_table.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#ifndef GRAPHPAE_DISTANCE_TABLE_LAYOUT_
#define GRAPHPAE_DISTANCE_TABLE_LAYOUT_
namespace graphpae::kernels {
namespace {

constexpr int64_t kNodes = 8;                 // points of a cell
constexpr int64_t kBlock = 256;               // distances at once: [kNodes,kBlock] weights take 8 KB
constexpr int64_t kParts = 32;                // of the distances, for counting
constexpr int kLeastBits = 2, kMostBits = 6;  // an octave has 4 to 64 bins
constexpr int64_t kPerBin = 350;              // distances, four octaves or so taken together, that a bin should have
constexpr int64_t kMostBins = 2048;           // distances beyond are exact
constexpr int64_t kMostCells = 4096;          // of a bin

}  // namespace
}  // namespace graphpae::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/distance_table.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// weights [kNodes,kBlock] of places [0, count): those of the Lagrange polynomials of the points -3, ..., 4 at t.
void Weights(const DistanceGrid::Place* places, int64_t count, float* HWY_RESTRICT weights) {
  const FullTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN float t_values[kBlock] = {};
  for (int64_t b = 0; b < count; ++b) t_values[b] = places[b].t;
  // 1 / prod_{j != i} (i - j)
  constexpr float kScale[kNodes] = {-1.0f / 5040, 1.0f / 720, -1.0f / 240, 1.0f / 144,
                                    -1.0f / 144,  1.0f / 240, -1.0f / 720, 1.0f / 5040};
  for (int64_t b = 0; b < count; b += lanes) {
    const auto t = hn::Load(d, t_values + b);
    hn::Vec<FullTag> below[kNodes];  // the product of the factors before i
    for (int64_t i = 1; i < kNodes; ++i) {
      const auto factor = hn::Add(t, hn::Set(d, static_cast<float>(4 - i)));
      below[i] = i == 1 ? factor : hn::Mul(below[i - 1], factor);
    }
    auto above = hn::Set(d, 1.0f);
    for (int64_t i = kNodes - 1; i >= 0; --i) {
      const auto product = i == 0 ? above : hn::Mul(below[i], above);
      hn::Store(hn::Mul(product, hn::Set(d, kScale[i])), d, weights + i * kBlock + b);
      above = hn::Mul(above, hn::Add(t, hn::Set(d, static_cast<float>(3 - i))));
    }
  }
}

// out of places [first, last) from table [P,H].
void Interpolate(const DistanceGrid::Place* places, int64_t first, int64_t last, const float* HWY_RESTRICT table,
                 int64_t heads, float* HWY_RESTRICT out) {
  HWY_ALIGN float weights[kNodes * kBlock];
  for (int64_t begin = first; begin < last; begin += kBlock) {
    const int64_t end = std::min(last, begin + kBlock);
    Weights(places + begin, end - begin, weights);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = places[i].at;
      float* to = out + i * heads;
      if (at < 0) {
        const float* row = table + ~at * heads;
        for_elements(0, heads, [&](auto d, int64_t h) HWY_ATTR { hn::StoreU(hn::LoadU(d, row + h), d, to + h); });
        continue;
      }
      const float* rows = table + at * heads;
      const float* w = weights + (i - begin);
      for_elements(0, heads, [&](auto d, int64_t h) HWY_ATTR {
        const auto term = [&](int64_t r) HWY_ATTR {
          return hn::Mul(hn::Set(d, w[r * kBlock]), hn::LoadU(d, rows + r * heads + h));
        };
        const auto add = [&](int64_t r, auto sum) HWY_ATTR {
          return hn::MulAdd(hn::Set(d, w[r * kBlock]), hn::LoadU(d, rows + r * heads + h), sum);
        };
        // From the smallest terms to the largest.
        const auto low = add(3, add(2, add(1, term(0)))), high = add(4, add(5, add(6, term(7))));
        hn::StoreU(hn::Add(low, high), d, to + h);
      });
    }
  }
}

// Adds d_out of places [first, last) to the gradient of the table, d_table [P,H].
void AddToTable(const DistanceGrid::Place* places, int64_t first, int64_t last, const float* HWY_RESTRICT d_out,
                int64_t heads, float* HWY_RESTRICT zero_sums, float* HWY_RESTRICT d_table) {
  HWY_ALIGN float weights[kNodes * kBlock];
  for (int64_t begin = first; begin < last; begin += kBlock) {
    const int64_t end = std::min(last, begin + kBlock);
    Weights(places + begin, end - begin, weights);
    std::fill_n(zero_sums, heads, 0.0f);  // the frequent distance 0: sums of sums keep more digits
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = places[i].at;
      const float* from = d_out + i * heads;
      if (at < 0) {
        float* row = at == ~int64_t{0} ? zero_sums : d_table + ~at * heads;
        for_elements(0, heads, [&](auto d, int64_t h) HWY_ATTR {
          hn::StoreU(hn::Add(hn::LoadU(d, row + h), hn::LoadU(d, from + h)), d, row + h);
        });
        continue;
      }
      float* rows = d_table + at * heads;
      const float* w = weights + (i - begin);
      for_elements(0, heads, [&](auto d, int64_t h) HWY_ATTR {
        const auto gradient = hn::LoadU(d, from + h);
        for (int64_t r = 0; r < kNodes; ++r) {
          float* row = rows + r * heads + h;
          hn::StoreU(hn::MulAdd(hn::Set(d, w[r * kBlock]), gradient, hn::LoadU(d, row)), d, row);
        }
      });
    }
    for (int64_t h = 0; h < heads; ++h) d_table[h] += zero_sums[h];
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace graphpae::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {
namespace {

HWY_EXPORT(Interpolate);
HWY_EXPORT(AddToTable);

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
#pragma omp parallel num_threads(threads.count)
  {
    flush_denormals();
#pragma omp for schedule(static)
    for (int64_t part = 0; part < kParts; ++part) {
      const auto [first, last] = part_of(count, part, kParts);
      Counts& own = counts[part];
      own.fill(0);
      for (int64_t i = first; i < last; ++i) {
        if (is_in_bin(grid, distances[i])) ++own[bin_of(grid, distances[i])];
      }
    }
  }
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
    if (grid.count[b] <= kNodes) continue;
    const int64_t most = std::min(kMostCells, grid.count[b] - kNodes);  // no more points than distances
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
#pragma omp parallel num_threads(threads.count)
  {
    flush_denormals();
#pragma omp for schedule(static)
    for (int64_t part = 0; part < kParts; ++part) {
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
    }
    // Distances that are points follow the table, part by part.
#pragma omp for schedule(static)
    for (int64_t part = 0; part < kParts; ++part) {
      if (singles[part].empty()) continue;
      auto before = static_cast<int32_t>(grid.tabulated) - 1;
      for (int64_t other = 0; other < part; ++other) before += static_cast<int32_t>(singles[other].size());
      const auto [first, last] = part_of(count, part, kParts);
      for (int64_t i = first; i < last; ++i) {
        if (grid.places[i].at < -1) grid.places[i].at -= before;
      }
    }
  }
  for (const auto& own : singles) grid.points.insert(grid.points.end(), own.begin(), own.end());
  return grid;
}

bool resolves(const DistanceEmbedding& embedding, const DistanceGrid& grid, double tolerance) {
  const Shapes shapes(embedding);
  const double scale = mean_level(shapes, grid, Threads{1});
  for (const DistanceGrid::Bin& bin : grid.bins) {
    if (bin.cells > 0 &&
        !(needed_cells(shapes, bin, bin.width / static_cast<float>(bin.cells), scale, tolerance) <= bin.cells))
      return false;
  }
  return true;
}

void table_forward(const DistanceEmbedding& embedding, const DistanceGrid& grid, float* out, Threads threads) {
  const auto points = static_cast<int64_t>(grid.points.size()), count = static_cast<int64_t>(grid.places.size());
  const auto table = hwy::AllocateAligned<float>(points * embedding.heads);
  distance_embedding_forward(embedding, grid.points.data(), points, table.get(), threads);
  const int64_t parts = 8 * threads.count;
#pragma omp parallel num_threads(threads.count)
  {
    flush_denormals();
#pragma omp for schedule(dynamic, 1)
    for (int64_t part = 0; part < parts; ++part) {
      const auto [first, last] = part_of(count, part, parts);
      HWY_DYNAMIC_DISPATCH(Interpolate)(grid.places.data(), first, last, table.get(), embedding.heads, out);
    }
  }
}

void table_backward(const DistanceEmbedding& embedding, const DistanceGrid& grid, const float* d_out,
                    const DistanceEmbeddingGradients& gradients, Threads threads) {
  const auto points = static_cast<int64_t>(grid.points.size()), count = static_cast<int64_t>(grid.places.size());
  const int64_t heads = embedding.heads, size = points * heads, parts = gradient_parts(count, heads);
  const auto d_table = hwy::AllocateAligned<float>((size + heads) * parts);
#pragma omp parallel num_threads(threads.count)
  {
    flush_denormals();
#pragma omp for schedule(dynamic, 1)
    for (int64_t part = 0; part < parts; ++part) {
      float* own = d_table.get() + part * size;
      std::fill_n(own, size, 0.0f);
      const auto [first, last] = part_of(count, part, parts);
      HWY_DYNAMIC_DISPATCH(AddToTable)
      (grid.places.data(), first, last, d_out, heads, d_table.get() + parts * size + part * heads, own);
    }
    constexpr int64_t kChunk = 512;
#pragma omp for schedule(static)
    for (int64_t begin = 0; begin < size; begin += kChunk) {
      const int64_t length = std::min(kChunk, size - begin);
      std::array<double, kChunk> sums = {};
      for (int64_t part = 0; part < parts; ++part) {
        for (int64_t k = 0; k < length; ++k) sums[k] += d_table[part * size + begin + k];
      }
      for (int64_t k = 0; k < length; ++k) d_table[begin + k] = static_cast<float>(sums[k]);
    }
  }
  distance_embedding_backward(embedding, grid.points.data(), points, d_table.get(), gradients, threads);
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
