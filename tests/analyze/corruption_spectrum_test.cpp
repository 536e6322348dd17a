#include "graphpae/analyze/corruption_spectrum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

// A cycle: eigenvalues 1 - cos(2 pi k / n), all features given by `value`(node, column).
template <class Value>
Graph cycle(int32_t n, int64_t columns, const Value& value, bool sparse = false) {
  GraphParts parts;
  parts.num_nodes = n;
  Buffer<Edge> edges;
  for (int32_t i = 0; i < n; ++i) edges.push_back({i, (i + 1) % n});
  parts.edges.push_back(std::move(edges));
  Buffer<float> values(static_cast<size_t>(n * columns));
  for (int32_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < columns; ++c) values[i * columns + c] = static_cast<float>(value(i, c));
  }
  parts.features =
      sparse ? Features::compact(n, columns, std::move(values)) : Features::dense(n, columns, std::move(values));
  return Graph(std::move(parts));
}

SpectrumAnalysis analyse(const Graph& graph, const SpectrumOptions& options, int threads, int64_t eigenvectors = 0,
                         const SpectrumCallback& progress = {}) {
  const auto solve = [&](const Adjacency& adjacency) { return fourier_basis(adjacency, eigenvectors, {threads}); };
  return analyse_corruptions(graph, solve(graph.adjacency()), solve, options, {threads}, progress);
}

TEST(GraphFourier, PureFrequencies) {
  // A constant is frequency 0, alternating signs are frequency 2.
  const Graph graph = cycle(40, 2, [](int32_t i, int64_t c) { return c == 0 ? 3.0 : i % 2 == 0 ? 1.0 : -1.0; });
  const FourierBasis basis = fourier_basis(graph.adjacency(), 0, {2});
  ASSERT_TRUE(basis.whole());
  const FrequencyContent content = frequency_content(basis, graph.features(), {}, {2});
  EXPECT_NEAR(basis.eigenvalues.front(), 0, 1e-12);
  EXPECT_NEAR(basis.eigenvalues.back(), 2, 1e-12);
  for (size_t k = 0; k < 40; ++k) {
    const double expected = k == 0 ? 3 * std::sqrt(40.0) : k == 39 ? std::sqrt(40.0) : 0;
    EXPECT_NEAR(content.magnitude[k], expected / 2, 1e-9) << k;
    EXPECT_NEAR(content.of_the_mean[k], expected / 2, 1e-9) << k;
    EXPECT_NEAR(content.energy[k], expected * expected, 1e-8) << k;
  }
}

TEST(GraphFourier, EnergyIsKept) {
  const Rng rng(3);
  for (const bool sparse : {false, true}) {
    const Graph graph = cycle(
        50, 70, [&](int32_t i, int64_t c) { return rng.uniform(i * 70 + c) < 0.1 ? rng.uniform(i) : 0.0; }, sparse);
    EXPECT_EQ(graph.features().is_sparse(), sparse);
    const FourierBasis basis = fourier_basis(graph.adjacency(), 0, {2});
    std::vector<char> hidden(50, 0);
    hidden[7] = hidden[20] = 1;
    const FrequencyContent content = frequency_content(basis, graph.features(), hidden, {1});
    double energy = 0;
    for (int32_t i = 0; i < 50; ++i) {
      for (int64_t c = 0; c < 70 && !hidden[i]; ++c) {
        const double value = rng.uniform(i * 70 + c) < 0.1 ? static_cast<float>(rng.uniform(i)) : 0.0;
        energy += value * value;
      }
    }
    EXPECT_NEAR(std::accumulate(content.energy.begin(), content.energy.end(), 0.0), energy, 1e-6);
    EXPECT_EQ(frequency_content(basis, graph.features(), hidden, {2}).magnitude, content.magnitude);
  }
}

TEST(GraphFourier, BandsOfEigenvalues) {
  EXPECT_EQ(band_of(0, 0.1), 0u);
  EXPECT_EQ(band_of(0.0999, 0.1), 0u);
  EXPECT_EQ(band_of(0.3, 0.1), 3u);  // 0.3 / 0.1 is a little less than 3
  EXPECT_EQ(band_of(2, 0.1), 19u);
  EXPECT_EQ(band_of(2, 0.3), 6u);
  const std::vector<double> eigenvalues = {0, 0.05, 0.3, 1.99}, values = {1, 3, 5, 7};
  const std::vector<double> means = band_means(eigenvalues, values, 0.1, 20);
  EXPECT_EQ(means[0], 2);
  EXPECT_TRUE(std::isnan(means[1]));
  EXPECT_EQ(means[3], 5);
  EXPECT_EQ(means[19], 7);
}

TEST(CorruptionSpectrum, WhatIsNotCorruptedDoesNotChange) {
  const Rng rng(5);
  const Graph graph = cycle(60, 8, [&](int32_t i, int64_t c) { return rng.normal(i * 8 + c); });
  SpectrumOptions options;
  options.draws = 2;
  options.ratio = 0;
  for (const CorruptionSpectrum& corruption : analyse(graph, options, 2).corruptions) {
    for (const BandChange& band : corruption.bands) {
      if (band.eigenvalues == 0) continue;
      EXPECT_NEAR(band.magnitude.change, 0, 1e-9) << corruption.name << " " << band.low;
    }
  }
  options.ratio = 0.5;
  options.noise = 0;
  const SpectrumAnalysis analysis = analyse(graph, options, 2);
  ASSERT_EQ(analysis.corruptions.size(), 3u);
  EXPECT_TRUE(analysis.whole());
  const auto change = [&](int corruption) {
    double sum = 0, eigenvalues = 0;
    for (const BandChange& band : analysis.corruptions[corruption].bands) {
      if (band.eigenvalues > 0 && !std::isnan(band.magnitude.change)) sum += band.magnitude.change;
      eigenvalues += band.eigenvalues;
    }
    EXPECT_EQ(eigenvalues, 60);
    return sum;
  };
  EXPECT_GT(change(0), 0.1);
  EXPECT_GT(change(1), 0.1);
  EXPECT_NEAR(change(2), 0, 1e-12);  // shaken by nothing
}

TEST(CorruptionSpectrum, DrawsAreThoseOfTheSeed) {
  const Rng rng(6);
  const Graph graph = cycle(60, 8, [&](int32_t i, int64_t c) { return rng.normal(i * 8 + c); });
  SpectrumOptions options;
  options.draws = 3;
  options.noise = 0.1;
  int64_t calls = 0;
  const auto run = [&](int threads) {
    return analyse(graph, options, threads, 20,
                   [&](const std::string&, int64_t draw) { EXPECT_EQ(draw, calls++ % 3); });
  };
  const SpectrumAnalysis one = run(1);
  EXPECT_EQ(calls, 9);
  const SpectrumAnalysis two = run(2);
  EXPECT_FALSE(one.whole());
  EXPECT_EQ(one.eigenvectors, 20);
  EXPECT_LT(one.highest, 1);
  ++options.seed;
  const SpectrumAnalysis other = run(2);
  for (size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(one.corruptions[c].bands[0].magnitude.corrupted, two.corruptions[c].bands[0].magnitude.corrupted);
    EXPECT_NE(one.corruptions[c].bands[0].magnitude.corrupted, other.corruptions[c].bands[0].magnitude.corrupted);
    EXPECT_GT(one.corruptions[c].bands[0].magnitude.deviation, 0);
  }
}

TEST(CorruptionSpectrum, RefusesWhatCannotWork) {
  const Graph bare = cycle(10, 0, [](int32_t, int64_t) { return 0.0; });
  EXPECT_DATA_ERROR(check_corruptions(bare, {}), "no node features");
  const Graph graph = cycle(10, 1, [](int32_t, int64_t) { return 1.0; });
  SpectrumOptions options;
  options.ratio = 1.5;
  EXPECT_USAGE_ERROR(check_corruptions(graph, options), "ratio is 1.5");
}

}  // namespace
}  // namespace graphpae
