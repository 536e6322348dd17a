// At which frequencies representations differ between nodes: the energy of their columns by bands of eigenvalues.
//
// Columns are centred first, as what all nodes share tells none apart.
#pragma once

#include <string>
#include <vector>

#include "graphpae/analyze/graph_fourier.h"

namespace graphpae {

struct EnergyBand {
  double low = 0, high = 0;
  int64_t eigenvalues = 0;
  double share = 0;    // of the whole energy
  double density = 0;  // that share over the share of all eigenvalues in this band: 1 where noise would be; NaN if none
};

struct EnergySpectrum {
  std::string name;
  std::vector<EnergyBand> bands;  // up to the highest eigenvalue of the basis
  double mean_frequency = 0;      // weighted by energy, over the frequencies of the basis
  double beyond = 0;              // share of the energy at frequencies that the basis does not have
};

// Of rows [N,d]. All shares are zero for rows that do not differ.
EnergySpectrum energy_spectrum(const std::string& name, const FourierBasis& basis, const Features& rows,
                               double band_width, Threads threads);

}  // namespace graphpae
