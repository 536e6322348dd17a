#include "graphpae/run/spectrum.h"

#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/terminal.h"
#include "graphpae/core/error.h"
#include "graphpae/report/page.h"

namespace graphpae::cli {
namespace {

struct SpectrumFlags {
  DataFlags data;
  std::string output;
  std::vector<std::string> runs;
  bool force = false;
  SettingFlags settings;
};

// A table of the bands that have eigenvalues.
void print_corruptions(const SpectrumAnalysis& a) {
  fmt::print("change of the magnitude by band, relative to the original\n\n");
  fmt::print("{:<12} {:>11} {:>10}", "frequencies", "eigenvalues", "original");
  for (const CorruptionSpectrum& corruption : a.corruptions) fmt::print(" {:>15}", corruption.name);
  fmt::print("\n");
  for (size_t b = 0; b < a.corruptions[0].bands.size(); ++b) {
    const BandChange& band = a.corruptions[0].bands[b];
    if (band.eigenvalues == 0) continue;
    fmt::print("{:<12} {:>11} {:>10.4g}", fmt::format("{:.4g} - {:.4g}", band.low, band.high), band.eigenvalues,
               band.magnitude.original);
    for (const CorruptionSpectrum& corruption : a.corruptions) {
      const auto& n = corruption.bands[b].magnitude;
      fmt::print(" {:>13.2f} %", 100 * n.change / n.original);
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

void print_energies(const std::vector<EnergySpectrum>& energies) {
  fmt::print("energy of representations by band, in % (density: 1 is what noise has)\n\n{:<12}", "frequencies");
  for (const EnergySpectrum& energy : energies) fmt::print(" {:>17}", fitted(energy.name, 17));
  fmt::print("\n");
  for (size_t b = 0; b < energies.front().bands.size(); ++b) {
    const EnergyBand& band = energies.front().bands[b];
    if (band.eigenvalues == 0) continue;
    fmt::print("{:<12}", fmt::format("{:.4g} - {:.4g}", band.low, band.high));
    for (const EnergySpectrum& energy : energies)
      fmt::print(" {:>8.2f} ({:>6.2f})", 100 * energy.bands[b].share, energy.bands[b].density);
    fmt::print("\n");
  }
  fmt::print("{:<12}", "mean");
  for (const EnergySpectrum& energy : energies) fmt::print(" {:>17.3f}", energy.mean_frequency);
  fmt::print("\n\n");
}

}  // namespace

void add_spectrum(CLI::App& app, Common& common) {
  CLI::App* verb =
      app.add_subcommand("spectrum", "Show which frequencies of a graph corruptions change and encoders have learnt.");
  auto flags = std::make_shared<SpectrumFlags>();
  add_data_argument(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "Write spectrum.json, .csv and .html to this directory.")
      ->required()
      ->type_name("DIR");
  verb->add_flag("--force", flags->force, "Write over what is there.");
  verb->add_option("--run", flags->runs,
                   "Show the energy of the embeddings of this run or model by band; the flag may be repeated.")
      ->take_all()
      ->expected(1)
      ->type_name("RUN");
  run::SpectrumSettings defaults;
  add_setting_flags(*verb, table_of(defaults), flags->settings,
                    {{"ratio", "noise", "draws", "eigenvectors", "seed"}, kRare});
  add_reading_flags(*verb, flags->data);
  verb->callback([flags, &common] {
    run::SpectrumSettings settings;
    if (!flags->runs.empty()) settings.corruptions.draws = 0;
    apply_settings(table_of(settings), flags->settings);
    if (settings.corruptions.draws == 0 && flags->runs.empty())
      throw usage_error("draws is 0 and there is no --run: nothing to do");
    run::check_spectrum_directory(flags->output, flags->force);
    const Dataset dataset = load_data(flags->data, common);
    print_notes(dataset.notes);
    if (!dataset.is_graph())
      throw data_error(fmt::format("{}: molecules; a spectrum is that of one graph", flags->data.data));
    const run::Spectrum found =
        run::spectrum(dataset.graph(), flags->data.data, settings, flags->runs, context_of(common));
    const std::vector<std::string> files = run::write_spectrum(flags->output, found, common.command);
    if (common.json) return print_json(run::spectrum_json(found));
    fmt::print("{}: {}\n\n", found.data, spectrum_extent(found.eigenvectors, found.nodes, found.highest));
    if (!found.corruptions.corruptions.empty()) print_corruptions(found.corruptions);
    if (!found.energies.empty()) print_energies(found.energies);
    for (const std::string& file : files) fmt::print("{}/{}\n", flags->output, file);
  });
}

}  // namespace graphpae::cli
