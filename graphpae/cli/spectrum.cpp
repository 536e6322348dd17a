#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "graphpae/analyze/corruption_spectrum.h"
#include "graphpae/cli/command.h"
#include "graphpae/cli/progress.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/report/page.h"
#include "graphpae/version.h"

namespace graphpae::cli {
namespace {

namespace fs = std::filesystem;

// Larger graphs are looked at up to some frequency unless more is asked for.
constexpr int64_t kWholeNodes = 8000, kSomeEigenvectors = 200;

struct Flags {
  DataFlags data;
  std::string output;
  bool force = false;
  SettingFlags settings;
};

void declare(OptionTable& table, SpectrumOptions& o) {
  table.add("ratio", o.ratio, between(0, 1), "share of nodes or edges that are corrupted");
  table.add("noise", o.noise, between(0, 1000), "positions are shaken by up to this much");
  table.add("draws", o.draws, between(1, 1000), "random corruptions that are averaged");
  table.add("band_width", o.band_width, between(0.001, 2), "width of a band of frequencies, which are in 0 .. 2");
  table.add("eigenvectors", o.eigenvectors, between(0, 1e6),
            "the lowest frequencies; 0: all, or 200 in graphs of more than 8,000 nodes");
  table.add("seed", o.seed, between(0, 1e15), "of the corruptions");
}

std::string title_of(const std::string& name) {
  if (name == "feature_masking") return "Feature masking: features of some nodes are zero";
  if (name == "edge_masking") return "Edge masking: some edges are removed";
  return "Position offset: eigenvectors are shaken at some nodes";
}

std::string extent_of(const SpectrumAnalysis& a) {
  return a.whole() ? fmt::format("all {} eigenvectors", a.eigenvectors)
                   : fmt::format("the {} lowest of {} eigenvectors, frequencies up to {:.3g} only", a.eigenvectors,
                                 a.nodes, a.highest);
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json numbers_json(const BandChange::Numbers& n) {
  return {{"original", number(n.original)},
          {"corrupted", number(n.corrupted)},
          {"deviation", number(n.deviation)},
          {"change", number(n.change)}};
}

Json analysis_json(const SpectrumAnalysis& a, const SpectrumOptions& o, const std::string& data) {
  Json corruptions;
  for (const CorruptionSpectrum& corruption : a.corruptions) {
    Json bands = Json::array();
    for (const BandChange& band : corruption.bands) {
      bands.push_back({{"low", band.low},
                       {"high", band.high},
                       {"eigenvalues", band.eigenvalues},
                       {"magnitude", numbers_json(band.magnitude)},
                       {"of_the_mean", numbers_json(band.of_the_mean)}});
    }
    corruptions[corruption.name] = bands;
  }
  return {{"data", data},       {"version", kVersion},  {"nodes", a.nodes},          {"eigenvectors", a.eigenvectors},
          {"whole", a.whole()}, {"highest", a.highest}, {"ratio", o.ratio},          {"noise", o.noise},
          {"draws", o.draws},   {"seed", o.seed},       {"corruptions", corruptions}};
}

std::string analysis_csv(const SpectrumAnalysis& a) {
  std::string text = "corruption,low,high,eigenvalues,average,original,corrupted,deviation,change\n";
  const auto value = [](double x) { return std::isfinite(x) ? fmt::format("{}", x) : ""; };
  for (const CorruptionSpectrum& corruption : a.corruptions) {
    for (const BandChange& band : corruption.bands) {
      const std::pair<const char*, const BandChange::Numbers*> both[] = {{"magnitude", &band.magnitude},
                                                                         {"of_the_mean", &band.of_the_mean}};
      for (const auto& [name, n] : both)
        text +=
            fmt::format("{},{:.4g},{:.4g},{},{},{},{},{},{}\n", corruption.name, band.low, band.high, band.eigenvalues,
                        name, value(n->original), value(n->corrupted), value(n->deviation), value(n->change));
    }
  }
  return text;
}

std::string analysis_page(const SpectrumAnalysis& a, const SpectrumOptions& o, const std::string& data) {
  Page page(fmt::format("Which frequencies corruptions change: {}", data));
  page.add_text(
      fmt::format("{} nodes, {}; {:.0f} % of nodes or edges corrupted, offsets up to {}, {} draws. A frequency is an "
                  "eigenvalue of the "
                  "normalised Laplacian, a magnitude |u^T x| of an eigenvector u and a feature x, averaged over "
                  "features and over the band.",
                  a.nodes, extent_of(a), 100 * o.ratio, o.noise, o.draws));
  Chart changes{"Change of the magnitude, relative to the original",
                "band of frequencies",
                "|after - before| / before",
                Chart::Kind::bars,
                {},
                {},
                false};
  for (const CorruptionSpectrum& corruption : a.corruptions) {
    Chart chart{title_of(corruption.name), "band of frequencies", "magnitude", Chart::Kind::lines, {}, {}, true};
    chart.series = {{"original", {}}, {"corrupted", {}}};
    ChartSeries relative{corruption.name, {}};
    std::replace(relative.name.begin(), relative.name.end(), '_', ' ');
    for (const BandChange& band : corruption.bands) {
      chart.points.push_back(fmt::format("{:.4g} to {:.4g}", band.low, band.high));
      chart.series[0].values.push_back(band.magnitude.original);
      chart.series[1].values.push_back(band.magnitude.corrupted);
      relative.values.push_back(band.magnitude.change / band.magnitude.original);
    }
    changes.points = chart.points;
    changes.series.push_back(std::move(relative));
    page.add_chart(chart);
  }
  page.add_chart(changes);
  page.add_heading("Again");
  page.add_code(fmt::format(
      "graphpae spectrum {} -o DIR --ratio {} --noise {} --draws {} --band-width {} --eigenvectors {} --seed {}", data,
      o.ratio, o.noise, o.draws, o.band_width, o.eigenvectors, o.seed));
  return page.html();
}

// A table of the bands that have eigenvalues.
void print_analysis(const SpectrumAnalysis& a) {
  fmt::print("change of the magnitude by band, relative to the original; {}\n\n", extent_of(a));
  fmt::print("{:<12} {:>12} {:>12}", "frequencies", "eigenvalues", "original");
  for (const CorruptionSpectrum& corruption : a.corruptions) fmt::print(" {:>16}", corruption.name);
  fmt::print("\n");
  for (size_t b = 0; b < a.corruptions[0].bands.size(); ++b) {
    const BandChange& band = a.corruptions[0].bands[b];
    if (band.eigenvalues == 0) continue;
    fmt::print("{:<12} {:>12} {:>12.4g}", fmt::format("{:.4g} - {:.4g}", band.low, band.high), band.eigenvalues,
               band.magnitude.original);
    for (const CorruptionSpectrum& corruption : a.corruptions) {
      const auto& n = corruption.bands[b].magnitude;
      fmt::print(" {:>14.2f} %", 100 * n.change / n.original);
    }
    fmt::print("\n");
  }
}

void check_memory(int64_t nodes, int64_t edges, int64_t k) {
  PositionOptions options;
  options.k = k == 0 ? nodes : k;
  if (k == 0) options.solver = PositionSolver::dense;
  const int64_t needed = position_memory(nodes, edges, options) + 16 * nodes * options.k;
  if (needed <= available_memory()) return;
  throw memory_error(
      fmt::format("the spectrum needs about {:.1f} GB, {:.1f} GB are available; --eigenvectors takes fewer",
                  static_cast<double>(needed) / 1e9, static_cast<double>(available_memory()) / 1e9));
}

}  // namespace

void add_spectrum(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("spectrum", "which frequencies of a graph corruptions change (Appendix A)");
  auto flags = std::make_shared<Flags>();
  add_data_flags(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "directory for spectrum.json, .csv and .html")->required();
  verb->add_flag("--force", flags->force, "write over what is there");
  SpectrumOptions defaults;
  OptionTable table;
  declare(table, defaults);
  add_setting_flags(*verb, table, flags->settings);
  verb->callback([flags, &common] {
    SpectrumOptions options;
    OptionTable chosen;
    declare(chosen, options);
    apply_settings(chosen, flags->settings);
    if (fs::exists(flags->output) && !fs::is_directory(flags->output))
      throw usage_error(fmt::format("{}: exists and is not a directory", flags->output));
    if (fs::exists(flags->output + "/spectrum.json") && !flags->force)
      throw usage_error(fmt::format("{}: holds a spectrum; --force writes over it", flags->output));
    const Dataset dataset = load_data(flags->data, common);
    print_notes(dataset.notes);
    if (!dataset.is_graph())
      throw data_error(fmt::format("{}: molecules; a spectrum is that of one graph", flags->data.data));
    const Graph& graph = dataset.graph();
    if (options.eigenvectors == 0 && graph.num_nodes() > kWholeNodes) options.eigenvectors = kSomeEigenvectors;
    options.eigenvectors = options.eigenvectors >= graph.num_nodes() ? 0 : options.eigenvectors;
    check_memory(graph.num_nodes(), static_cast<int64_t>(graph.adjacency().neighbours().size()), options.eigenvectors);
    const SpectrumAnalysis analysis = naming(flags->data.data, [&] {
      Progress progress(common, "parts", 1 + 3 * options.draws);
      return analyse_corruptions(graph, options, common.thread_count(), [&](int64_t done, int64_t) {
        progress.update(done);
        return true;
      });
    });
    std::error_code reason;
    fs::create_directories(flags->output, reason);
    if (reason) throw data_error(fmt::format("{}: {}", flags->output, reason.message()));
    const Json json = analysis_json(analysis, options, flags->data.data);
    write_file(flags->output + "/spectrum.csv", analysis_csv(analysis));
    write_file(flags->output + "/spectrum.html", analysis_page(analysis, options, flags->data.data));
    write_file(flags->output + "/spectrum.json", json.dump(2) + "\n");
    if (common.json) return print_json(json);
    print_analysis(analysis);
    fmt::print("\n{0}/spectrum.html, {0}/spectrum.csv, {0}/spectrum.json\n", flags->output);
  });
}

}  // namespace graphpae::cli
