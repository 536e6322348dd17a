#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/text.h"
#include "graphpae/report/page.h"
#include "graphpae/run/spectrum.h"
#include "graphpae/version.h"

namespace graphpae::run {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What is not a finite number is written as null.
Json numbers_json(const BandChange::Numbers& n) {
  return {{"original", n.original}, {"corrupted", n.corrupted}, {"deviation", n.deviation}, {"change", n.change}};
}

std::string field(double x) { return std::isfinite(x) ? fmt::format("{}", x) : ""; }

std::string corruptions_csv(const SpectrumAnalysis& a) {
  std::string text = "corruption,low,high,eigenvalues,average,original,corrupted,deviation,change\n";
  for (const CorruptionSpectrum& corruption : a.corruptions) {
    for (const BandChange& band : corruption.bands) {
      const std::pair<const char*, const BandChange::Numbers*> both[] = {{"magnitude", &band.magnitude},
                                                                         {"of_the_mean", &band.of_the_mean}};
      for (const auto& [name, n] : both)
        text +=
            fmt::format("{},{:.4g},{:.4g},{},{},{},{},{},{}\n", corruption.name, band.low, band.high, band.eigenvalues,
                        name, field(n->original), field(n->corrupted), field(n->deviation), field(n->change));
    }
  }
  return text;
}

std::string energies_csv(const std::vector<EnergySpectrum>& energies) {
  std::string text = "representation,low,high,eigenvalues,share,density\n";
  for (const EnergySpectrum& energy : energies) {
    const std::string name = table_field(energy.name, ',');
    for (const EnergyBand& band : energy.bands)
      text += fmt::format("{},{:.4g},{:.4g},{},{},{}\n", name, band.low, band.high, band.eigenvalues, band.share,
                          field(band.density));
  }
  return text;
}

std::string page_of(const Spectrum& found, const Json& json, const std::string& command) {
  Page page(fmt::format("Spectrum of {}", found.data));
  add_spectrum_charts(page, json.dump(), found.data);
  page.add_heading("Again");
  page.add_code(command);
  return page.html();
}

}  // namespace

Json spectrum_json(const Spectrum& f) {
  Json corruptions = Json::object(), energies = Json::array();
  for (const CorruptionSpectrum& corruption : f.corruptions.corruptions) {
    for (const BandChange& band : corruption.bands) {
      corruptions[corruption.name].push_back({{"low", band.low},
                                              {"high", band.high},
                                              {"eigenvalues", band.eigenvalues},
                                              {"magnitude", numbers_json(band.magnitude)},
                                              {"of_the_mean", numbers_json(band.of_the_mean)}});
    }
  }
  for (const EnergySpectrum& energy : f.energies) {
    Json bands = Json::array();
    for (const EnergyBand& band : energy.bands) {
      bands.push_back({{"low", band.low},
                       {"high", band.high},
                       {"eigenvalues", band.eigenvalues},
                       {"share", band.share},
                       {"density", band.density}});
    }
    energies.push_back({{"name", energy.name},
                        {"mean_frequency", energy.mean_frequency},
                        {"beyond", energy.beyond},
                        {"bands", bands}});
  }
  const SpectrumOptions& o = f.options;
  return {{"data", f.data},       {"version", kVersion},
          {"nodes", f.nodes},     {"eigenvectors", f.eigenvectors},
          {"highest", f.highest}, {"whole", f.eigenvectors == f.nodes},
          {"ratio", o.ratio},     {"noise", o.noise},
          {"draws", o.draws},     {"band_width", o.band_width},
          {"seed", o.seed},       {"corruptions", corruptions},
          {"energies", energies}};
}

void check_spectrum_directory(const std::string& directory, bool force) {
  if (fs::exists(directory) && !fs::is_directory(directory))
    throw usage_error(fmt::format("{}: exists and is not a directory", directory));
  if (fs::exists(directory + "/spectrum.json") && !force)
    throw usage_error(fmt::format("{}: holds a spectrum; --force writes over it", directory));
}

std::vector<std::string> write_spectrum(const std::string& directory, const Spectrum& found,
                                        const std::string& command) {
  std::error_code reason;
  fs::create_directories(directory, reason);
  if (reason) throw data_error(fmt::format("{}: {}", directory, reason.message()));
  const Json json = spectrum_json(found);
  std::vector<std::string> files = {"spectrum.html", "spectrum.json"};
  const auto write_table = [&](const char* name, const std::string& text) {
    write_file(directory + "/" + name, text);
    files.emplace_back(name);
  };
  if (!found.corruptions.corruptions.empty()) write_table("spectrum.csv", corruptions_csv(found.corruptions));
  if (!found.energies.empty()) write_table("energies.csv", energies_csv(found.energies));
  write_file(directory + "/spectrum.html", page_of(found, json, command));
  write_file(directory + "/spectrum.json", json.dump(2) + "\n");
  return files;
}

}  // namespace graphpae::run
