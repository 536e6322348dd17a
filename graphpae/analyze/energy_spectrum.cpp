#include "graphpae/analyze/energy_spectrum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace graphpae {
namespace {

// Dense rows whose columns add up to zero.
Features centred(const Features& rows) {
  const int64_t n = rows.rows(), d = rows.columns();
  Buffer<float> values(static_cast<size_t>(n * d), 0.0f);
  std::vector<double> mean(static_cast<size_t>(d), 0.0);
  const auto each = [&](const auto& use) {
    for (int64_t i = 0; i < n; ++i) {
      if (rows.is_sparse()) {
        const SparseRow row = rows.sparse_row(i);
        for (size_t e = 0; e < row.columns.size(); ++e) use(i, row.columns[e], row.values[e]);
      } else {
        const auto row = rows.dense_row(i);
        for (int64_t c = 0; c < d; ++c) use(i, c, row[c]);
      }
    }
  };
  each([&](int64_t, int64_t c, float value) { mean[c] += value; });
  for (double& value : mean) value /= static_cast<double>(n);
  each([&](int64_t i, int64_t c, float value) { values[i * d + c] = value; });
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < d; ++c) values[i * d + c] = static_cast<float>(values[i * d + c] - mean[c]);
  }
  return Features::dense(n, d, std::move(values));
}

}  // namespace

EnergySpectrum energy_spectrum(const std::string& name, const FourierBasis& basis, const Features& rows,
                               double band_width, Threads threads) {
  const Features x = centred(rows);
  const FrequencyContent content = frequency_content(basis, x, {}, threads);
  double whole = 0, found = 0, weighted = 0;
  for (const float value : x.dense_values()) whole += static_cast<double>(value) * value;
  EnergySpectrum spectrum;
  spectrum.name = name;
  spectrum.bands.resize(band_of(basis.eigenvalues.back(), band_width) + 1);
  for (size_t b = 0; b < spectrum.bands.size(); ++b) {
    spectrum.bands[b].low = static_cast<double>(b) * band_width;
    spectrum.bands[b].high = std::min(2.0, spectrum.bands[b].low + band_width);
  }
  for (size_t k = 0; k < basis.eigenvalues.size(); ++k) {
    EnergyBand& band = spectrum.bands[band_of(basis.eigenvalues[k], band_width)];
    ++band.eigenvalues;
    band.share += whole > 0 ? content.energy[k] / whole : 0;
    found += content.energy[k];
    weighted += content.energy[k] * basis.eigenvalues[k];
  }
  for (EnergyBand& band : spectrum.bands) {
    band.density = band.eigenvalues == 0
                       ? std::numeric_limits<double>::quiet_NaN()
                       : band.share * static_cast<double>(basis.num_nodes) / static_cast<double>(band.eigenvalues);
  }
  spectrum.mean_frequency = found > 0 ? weighted / found : 0;
  spectrum.beyond = whole > 0 ? std::max(0.0, 1 - found / whole) : 0;
  return spectrum;
}

}  // namespace graphpae
