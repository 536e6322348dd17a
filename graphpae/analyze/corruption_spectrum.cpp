#include "graphpae/analyze/corruption_spectrum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

enum Draw : uint64_t { kNodes = 0, kEdges = 1, kOffsets = 2 };

// The first floor(ratio n) of a random order of n things.
std::vector<int32_t> chosen(int64_t n, double ratio, const Rng& rng) {
  std::vector<int32_t> order = rng.permutation(static_cast<int32_t>(n));
  order.resize(static_cast<size_t>(std::floor(ratio * static_cast<double>(n))));
  return order;
}

Adjacency without_edges(const Adjacency& graph, double ratio, const Rng& rng, Threads threads) {
  std::vector<Edge> edges;
  for (int32_t i = 0; i < graph.num_nodes(); ++i) {
    for (const int32_t j : graph.row(i)) {
      if (i < j) edges.push_back({i, j});
    }
  }
  std::vector<char> gone(edges.size(), 0);
  for (const int32_t e : chosen(static_cast<int64_t>(edges.size()), ratio, rng)) gone[e] = 1;
  std::vector<Edge> kept;
  for (size_t e = 0; e < edges.size(); ++e) {
    if (!gone[e]) kept.push_back(edges[e]);
  }
  return Adjacency::from_edges(kept, graph.num_nodes(), {}, threads);
}

FourierBasis shaken(FourierBasis basis, const std::vector<int32_t>& nodes, double noise, const Rng& rng) {
  uint64_t draw = 0;
  for (const int32_t node : nodes) {
    double* row = basis.vectors.data() + node * basis.k;
    for (int64_t j = 0; j < basis.k; ++j) row[j] += noise * (2 * rng.uniform(draw++) - 1);
  }
  return basis;
}

// What one draw has in each band.
struct DrawnBands {
  std::vector<double> magnitude, of_the_mean;
};

// What draws have in a band, of which those count that have eigenvalues there.
BandChange::Numbers summed_up(const DrawnBands& original, const std::vector<DrawnBands>& draws,
                              std::vector<double> DrawnBands::*kind, size_t band) {
  std::vector<double> values;
  for (const DrawnBands& drawn : draws) {
    if (const double value = (drawn.*kind)[band]; !std::isnan(value)) values.push_back(value);
  }
  const double count = static_cast<double>(values.size()), before = (original.*kind)[band];
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {before, kNone, kNone, kNone};
  BandChange::Numbers numbers{before, 0, 0, 0};
  for (const double value : values) {
    numbers.corrupted += value / count;
    numbers.change += std::abs(value - before) / count;
  }
  for (const double value : values)
    numbers.deviation += (value - numbers.corrupted) * (value - numbers.corrupted) / std::max(count - 1, 1.0);
  numbers.deviation = std::sqrt(numbers.deviation);
  return numbers;
}

}  // namespace

void check_corruptions(const Graph& graph, const SpectrumOptions& options) {
  if (graph.features().columns() == 0) throw data_error("the graph has no node features to look at");
  if (graph.adjacency().num_edges() == 0) throw data_error("the graph has no edges");
  const auto within = [](const char* name, double value, double low, double high) {
    if (!(value >= low && value <= high))
      throw usage_error(fmt::format("{} is {}, expected {} .. {}", name, value, low, high));
  };
  within("ratio", options.ratio, 0, 1);
  within("noise", options.noise, 0, 1e3);
  within("band_width", options.band_width, 1e-3, 2);
  within("draws", static_cast<double>(options.draws), 1, 1e6);
}

SpectrumAnalysis analyse_corruptions(const Graph& graph, const FourierBasis& basis, const FourierSolver& solve,
                                     const SpectrumOptions& options, Threads threads,
                                     const SpectrumCallback& progress) {
  check_corruptions(graph, options);
  const Adjacency& adjacency = graph.adjacency();
  const Features& x = graph.features();
  const int64_t n = graph.num_nodes();
  const size_t bands = band_of(basis.eigenvalues.back(), options.band_width) + 1;
  const auto in_bands = [&](const FourierBasis& of, const FrequencyContent& content) -> DrawnBands {
    return {band_means(of.eigenvalues, content.magnitude, options.band_width, bands),
            band_means(of.eigenvalues, content.of_the_mean, options.band_width, bands)};
  };
  const DrawnBands original = in_bands(basis, frequency_content(basis, x, {}, threads));

  SpectrumAnalysis analysis{n, basis.k, basis.eigenvalues.back(), {}};
  const auto study = [&](const char* name, const std::function<DrawnBands(const Rng&)>& draw) {
    std::vector<DrawnBands> draws;
    for (int64_t d = 0; d < options.draws; ++d) {
      if (progress) progress(name, d);
      draws.push_back(draw(Rng(static_cast<uint64_t>(options.seed), static_cast<uint64_t>(d))));
    }
    CorruptionSpectrum spectrum{name, bands_of<BandChange>(basis, options.band_width)};
    for (size_t b = 0; b < bands; ++b) {
      spectrum.bands[b].magnitude = summed_up(original, draws, &DrawnBands::magnitude, b);
      spectrum.bands[b].of_the_mean = summed_up(original, draws, &DrawnBands::of_the_mean, b);
    }
    analysis.corruptions.push_back(std::move(spectrum));
  };
  const auto part = [](const Rng& rng, Draw what) { return Rng(rng.bits(2 * what), rng.bits(2 * what + 1)); };
  study("feature_masking", [&](const Rng& rng) {
    std::vector<char> hidden(static_cast<size_t>(n), 0);
    for (const int32_t node : chosen(n, options.ratio, part(rng, kNodes))) hidden[node] = 1;
    return in_bands(basis, frequency_content(basis, x, hidden, threads));
  });
  study("edge_masking", [&](const Rng& rng) {
    const FourierBasis masked = solve(without_edges(adjacency, options.ratio, part(rng, kEdges), threads));
    return in_bands(masked, frequency_content(masked, x, {}, threads));
  });
  study("position_offset", [&](const Rng& rng) {
    const FourierBasis moved =
        shaken(basis, chosen(n, options.ratio, part(rng, kNodes)), options.noise, part(rng, kOffsets));
    return in_bands(moved, frequency_content(moved, x, {}, threads));
  });
  return analysis;
}

}  // namespace graphpae
