#include "graphpae/analyze/energy_spectrum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graphpae/core/rng.h"

namespace graphpae {
namespace {

constexpr int32_t kNodes = 40;

Adjacency cycle() {
  std::vector<Edge> edges;
  for (int32_t i = 0; i < kNodes; ++i) edges.push_back({i, (i + 1) % kNodes});
  return Adjacency::from_edges(edges, kNodes, {}, {1});
}

template <class Value>
Features column(const Value& value) {
  Buffer<float> values;
  for (int32_t i = 0; i < kNodes; ++i) values.push_back(static_cast<float>(value(i)));
  return Features::dense(kNodes, 1, std::move(values));
}

TEST(EnergySpectrum, WavesAreInTheirBands) {
  const FourierBasis basis = fourier_basis(cycle(), 0, {2});
  // One wave around the cycle has frequency 1 - cos(2 pi / 40) = 0.012; the constant 100 counts for nothing.
  const EnergySpectrum low =
      energy_spectrum("low", basis, column([](int32_t i) { return 100 + std::cos(2 * M_PI * i / kNodes); }), 0.1, {2});
  EXPECT_EQ(low.name, "low");
  ASSERT_EQ(low.bands.size(), 20u);
  EXPECT_NEAR(low.bands[0].share, 1, 1e-4);
  EXPECT_NEAR(low.mean_frequency, 1 - std::cos(2 * M_PI / kNodes), 1e-4);
  EXPECT_NEAR(low.beyond, 0, 1e-9);
  const EnergySpectrum high = energy_spectrum("high", basis, column([](int32_t i) { return i % 2; }), 0.1, {2});
  EXPECT_NEAR(high.bands[19].share, 1, 1e-9);
  EXPECT_NEAR(high.mean_frequency, 2, 1e-6);
  EXPECT_NEAR(high.bands[19].density, 40.0 / static_cast<double>(high.bands[19].eigenvalues), 1e-6);
}

TEST(EnergySpectrum, NoiseIsFlatAndSharesAddUp) {
  const FourierBasis basis = fourier_basis(cycle(), 0, {2});
  const Rng rng(4);
  Buffer<float> values;
  for (uint64_t i = 0; i < kNodes * 500; ++i) values.push_back(static_cast<float>(rng.normal(i)));
  const EnergySpectrum noise = energy_spectrum("", basis, Features::dense(kNodes, 500, std::move(values)), 0.5, {1});
  double sum = 0;
  int64_t eigenvalues = 0;
  for (const EnergyBand& band : noise.bands) {
    sum += band.share;
    eigenvalues += band.eigenvalues;
    EXPECT_NEAR(band.density, 1, 0.1) << band.low;
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_EQ(eigenvalues, kNodes);
}

TEST(EnergySpectrum, WhatTheBasisDoesNotHaveIsSaid) {
  const FourierBasis basis = fourier_basis(cycle(), 5, {2});
  const auto value = [](int32_t i) { return std::cos(2 * M_PI * i / kNodes) + 2 * (i % 2) - 1; };
  const EnergySpectrum spectrum = energy_spectrum("", basis, column(value), 0.1, {2});
  EXPECT_NEAR(spectrum.beyond, 2.0 / 3, 1e-5);
  EXPECT_NEAR(spectrum.bands[0].share, 1.0 / 3, 1e-5);
  const EnergySpectrum nothing = energy_spectrum("", basis, column([](int32_t) { return 3; }), 0.1, {2});
  EXPECT_EQ(nothing.bands[0].share, 0);
  EXPECT_EQ(nothing.beyond, 0);
}

}  // namespace
}  // namespace graphpae
