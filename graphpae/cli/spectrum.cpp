#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "graphpae/analyze/corruption_spectrum.h"
#include "graphpae/analyze/energy_spectrum.h"
#include "graphpae/cli/command.h"
#include "graphpae/cli/run_flags.h"
#include "graphpae/cli/spectrum_work.h"
#include "graphpae/cli/terminal.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/text.h"
#include "graphpae/model/model_file.h"
#include "graphpae/report/spectrum_page.h"
#include "graphpae/train/representations.h"
#include "graphpae/version.h"

namespace graphpae::cli {
namespace {

namespace fs = std::filesystem;

// Larger graphs are looked at up to some frequency unless more is asked for.
constexpr int64_t kWholeNodes = 8000, kSomeEigenvectors = 200;

struct SpectrumSettings {
  SpectrumOptions corruptions;
  int64_t eigenvectors = 0;  // 0: as many as there are, or kSomeEigenvectors
};

struct Flags {
  DataFlags data;
  std::string output;
  std::vector<std::string> runs;
  bool force = false;
  SettingFlags settings;
};

void declare(OptionTable& table, SpectrumSettings& s) {
  SpectrumOptions& o = s.corruptions;
  table.add("ratio", o.ratio, between(0, 1), "share of nodes or edges that are corrupted");
  table.add("noise", o.noise, between(0, 1000), "positions are shaken by up to this much");
  table.add("draws", o.draws, between(0, 1000),
            "random corruptions that are averaged; 0: none, which is the default with --run");
  table.add("band_width", o.band_width, between(0.001, 2), "width of a band of frequencies, which are in 0 .. 2");
  table.add("eigenvectors", s.eigenvectors, between(0, 1e6),
            "the lowest frequencies; 0: all, or 200 in graphs of more than 8,000 nodes");
  table.add("seed", o.seed, between(0, 1e15), "of the corruptions");
}

// All that was found.
struct Findings {
  std::string data;
  int64_t nodes = 0, eigenvectors = 0;
  double highest = 0;
  SpectrumAnalysis corruptions;  // none without draws
  std::vector<EnergySpectrum> energies;

  std::string extent() const {
    return eigenvectors == nodes ? fmt::format("all {} eigenvectors", nodes)
                                 : fmt::format("the {} lowest of {} eigenvectors, frequencies up to {:.3g} only",
                                               eigenvectors, nodes, highest);
  }
};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json numbers_json(const BandChange::Numbers& n) {
  return {{"original", number(n.original)},
          {"corrupted", number(n.corrupted)},
          {"deviation", number(n.deviation)},
          {"change", number(n.change)}};
}

Json findings_json(const Findings& f, const SpectrumOptions& o) {
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
                       {"density", number(band.density)}});
    }
    energies.push_back({{"name", energy.name},
                        {"mean_frequency", energy.mean_frequency},
                        {"beyond", energy.beyond},
                        {"bands", bands}});
  }
  return {{"data", f.data},       {"version", kVersion},
          {"nodes", f.nodes},     {"eigenvectors", f.eigenvectors},
          {"highest", f.highest}, {"whole", f.eigenvectors == f.nodes},
          {"ratio", o.ratio},     {"noise", o.noise},
          {"draws", o.draws},     {"band_width", o.band_width},
          {"seed", o.seed},       {"corruptions", corruptions},
          {"energies", energies}};
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

std::string findings_page(const Findings& f, const Json& json, const std::string& command) {
  Page page(fmt::format("Spectrum of {}", f.data));
  add_spectrum_charts(page, json.dump(), f.data);
  page.add_heading("Again");
  page.add_code(command);
  return page.html();
}

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

void check_output(const Flags& flags) {
  if (fs::exists(flags.output) && !fs::is_directory(flags.output))
    throw usage_error(fmt::format("{}: exists and is not a directory", flags.output));
  if (fs::exists(flags.output + "/spectrum.json") && !flags.force)
    throw usage_error(fmt::format("{}: holds a spectrum; --force writes over it", flags.output));
}

// The representations of every run, of an untrained encoder like that of the first, and the features themselves.
std::vector<EnergySpectrum> energies_of(const Graph& graph, const Flags& flags, const FourierBasis& basis,
                                        double band_width, const Common& common) {
  std::vector<std::shared_ptr<GraphPae>> models;
  for (const std::string& run : flags.runs) {
    models.push_back(load_model(run));
    naming(run, [&] { check_features(*models.back(), graph); });
  }
  std::vector<EnergySpectrum> energies;
  const auto add = [&](const std::string& name, const Features& rows) {
    energies.push_back(energy_spectrum(name, basis, rows, band_width, common.thread_count()));
  };
  const auto embedded = [&](GraphPae& model) {
    const InputOptions options = input_options(common, Kernels::fused, graph, model.settings());
    return embedded_rows(model, prepare(graph, model.settings(), options));
  };
  for (size_t m = 0; m < models.size(); ++m) {
    const fs::path path = fs::absolute(flags.runs[m]).lexically_normal();
    const std::string name = path.has_filename() ? path.filename() : path.parent_path().filename();
    const bool unique = std::none_of(energies.begin(), energies.end(), [&](const auto& e) { return e.name == name; });
    add(unique ? name : flags.runs[m], embedded(*models[m]));
  }
  add("untrained encoder", embedded(*untrained(*models.front())));
  add("raw features", raw_feature_rows(graph, models.front()->settings()));
  return energies;
}

}  // namespace

void add_spectrum(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand(
      "spectrum", "which frequencies of a graph corruptions change (Appendix A) and encoders have learnt");
  auto flags = std::make_shared<Flags>();
  add_data_flags(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "directory for spectrum.json, .csv and .html")->required();
  verb->add_option("--run", flags->runs, "a run or model: the energy of its embeddings by band (repeatable)")
      ->take_all()
      ->expected(1);
  verb->add_flag("--force", flags->force, "write over what is there");
  SpectrumSettings defaults;
  OptionTable table;
  declare(table, defaults);
  add_setting_flags(*verb, table, flags->settings);
  verb->callback([flags, &common] {
    SpectrumSettings settings;
    if (!flags->runs.empty()) settings.corruptions.draws = 0;
    OptionTable chosen;
    declare(chosen, settings);
    apply_settings(chosen, flags->settings);
    const SpectrumOptions& options = settings.corruptions;
    if (options.draws == 0 && flags->runs.empty()) throw usage_error("draws is 0 and there is no --run: nothing to do");
    check_output(*flags);
    const Dataset dataset = load_data(flags->data, common);
    print_notes(dataset.notes);
    if (!dataset.is_graph())
      throw data_error(fmt::format("{}: molecules; a spectrum is that of one graph", flags->data.data));
    const Graph& graph = dataset.graph();
    if (options.draws > 0) naming(flags->data.data, [&] { check_corruptions(graph, options); });
    int64_t k = settings.eigenvectors;
    if (k == 0 && graph.num_nodes() > kWholeNodes) k = kSomeEigenvectors;
    if (k >= graph.num_nodes()) k = 0;
    check_spectrum_memory(graph, k);

    Findings found{flags->data.data, graph.num_nodes(), 0, 0, {}, {}};
    {
      SpectrumWork work(k, options.draws, common);
      const auto solve = [&](const Adjacency& adjacency) { return work.solve(adjacency); };
      const FourierBasis basis = solve(graph.adjacency());
      found.eigenvectors = basis.k;
      found.highest = basis.eigenvalues.back();
      if (options.draws > 0)
        found.corruptions =
            analyse_corruptions(graph, basis, solve, options, common.thread_count(),
                                [&](const std::string& corruption, int64_t draw) { work.draw(corruption, draw); });
      work.end();
      if (!flags->runs.empty()) found.energies = energies_of(graph, *flags, basis, options.band_width, common);
    }
    std::error_code reason;
    fs::create_directories(flags->output, reason);
    if (reason) throw data_error(fmt::format("{}: {}", flags->output, reason.message()));
    const Json json = findings_json(found, options);
    std::vector<std::string> files = {"spectrum.html", "spectrum.json"};
    const auto write_table = [&](const char* name, const std::string& text) {
      write_file(flags->output + "/" + name, text);
      files.emplace_back(name);
    };
    if (options.draws > 0) write_table("spectrum.csv", corruptions_csv(found.corruptions));
    if (!found.energies.empty()) write_table("energies.csv", energies_csv(found.energies));
    write_file(flags->output + "/spectrum.html", findings_page(found, json, common.command));
    write_file(flags->output + "/spectrum.json", json.dump(2) + "\n");
    if (common.json) return print_json(json);
    fmt::print("{}: {}\n\n", found.data, found.extent());
    if (options.draws > 0) print_corruptions(found.corruptions);
    if (!found.energies.empty()) print_energies(found.energies);
    for (const std::string& file : files) fmt::print("{}/{}\n", flags->output, file);
  });
}

}  // namespace graphpae::cli
