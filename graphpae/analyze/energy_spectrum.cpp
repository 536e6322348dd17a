#include "graphpae/analyze/energy_spectrum.h"

#include <algorithm>
#include <limits>

#include "graphpae/analyze/principal_components.h"

namespace graphpae {

EnergySpectrum energy_spectrum(const std::string& name, const FourierBasis& basis, const Features& rows,
                               double band_width, Threads threads) {
  const std::vector<double> centred = centred_rows(rows);
  const Features x = Features::dense(rows.rows(), rows.columns(), Buffer<float>(centred.begin(), centred.end()));
  const FrequencyContent content = frequency_content(basis, x, {}, threads);
  double whole = 0, found = 0, weighted = 0;
  for (const float value : x.dense_values()) whole += static_cast<double>(value) * value;
  EnergySpectrum spectrum{name, bands_of<EnergyBand>(basis, band_width)};
  for (size_t k = 0; k < basis.eigenvalues.size(); ++k) {
    EnergyBand& band = spectrum.bands[band_of(basis.eigenvalues[k], band_width)];
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
