// The verb spectrum: which frequencies of a graph corruptions change (Appendix A of the paper) and encoders have
// learnt.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "graphpae/analyze/corruption_spectrum.h"
#include "graphpae/analyze/energy_spectrum.h"
#include "graphpae/core/options.h"
#include "graphpae/run/context.h"

namespace graphpae::run {

struct SpectrumSettings {
  SpectrumOptions corruptions;
  int64_t eigenvectors = 0;  // 0: all, or some of a large graph
};
void declare(OptionTable& table, SpectrumSettings& settings);

// All that was found.
struct Spectrum {
  std::string data;
  SpectrumOptions options;
  int64_t nodes = 0, eigenvectors = 0;
  double highest = 0;            // frequency that was computed
  SpectrumAnalysis corruptions;  // none without draws
  std::vector<EnergySpectrum> energies;
};

// `runs`: those whose embeddings are looked at, with an untrained encoder like that of the first and the features
// themselves. `name` of the data starts errors. Throws a memory error if the eigenvectors will not fit.
Spectrum spectrum(const Graph& graph, const std::string& name, const SpectrumSettings& settings,
                  const std::vector<std::string>& runs, const Context& context);

// Throws a usage error if a spectrum cannot be written there, or if there is one, unless `force`.
void check_spectrum_directory(const std::string& directory, bool force);

// spectrum.html, spectrum.json and the tables there are (spectrum.csv, energies.csv); returns their names. `command`:
// how to make them again.
std::vector<std::string> write_spectrum(const std::string& directory, const Spectrum& spectrum,
                                        const std::string& command);
nlohmann::ordered_json spectrum_json(const Spectrum& spectrum);

}  // namespace graphpae::run
