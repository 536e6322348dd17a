#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "graphpae/core/error.h"
#include "graphpae/report/page.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

double number(const Json& json) { return json.is_number() ? json.get<double>() : kGap; }
double above_zero(double value) { return value > 0 ? value : kGap; }  // what a logarithmic axis can show

std::string band_name(const Json& band) {
  return fmt::format("{:.4g} to {:.4g}", band.at("low").get<double>(), band.at("high").get<double>());
}

std::string title_of(const std::string& name) {
  if (name == "feature_masking") return "Feature masking: features of some nodes are zero";
  if (name == "edge_masking") return "Edge masking: some edges are removed";
  if (name == "position_offset") return "Position offset: eigenvectors are shaken at some nodes";
  return with_blanks(name);
}

void add_corruptions(Page& page, const Json& json) {
  page.add_text(fmt::format(
      "{:.0f} % of nodes or edges are corrupted, offsets are up to {}, {} draws. A frequency is an eigenvalue of the "
      "normalised Laplacian, a magnitude |u^T x| of an eigenvector u and a feature x, averaged over features and over "
      "the band.",
      100 * json.at("ratio").get<double>(), json.at("noise").get<double>(), json.at("draws").get<int64_t>()));
  const std::string x = "band of frequencies";
  Chart relative{"Change of the magnitude, relative to the original", x, "|after - before| / before",
                 Chart::Kind::bars};
  Chart absolute{"Change of the magnitude", x, "|after - before|", Chart::Kind::bars};
  for (const auto& [name, bands] : json.at("corruptions").items()) {
    Chart chart{title_of(name), x, "magnitude", Chart::Kind::lines, true};
    chart.series = {{"original", {}}, {"corrupted, and a deviation between draws", {}}};
    ChartSeries shares{with_blanks(name), {}}, changes = shares;
    for (const Json& band : bands) {
      const Json& m = band.at("magnitude");
      const double before = number(m.at("original")), after = number(m.at("corrupted")),
                   deviation = number(m.at("deviation")), change = number(m.at("change"));
      chart.points.push_back(band_name(band));
      chart.series[0].values.push_back(above_zero(before));
      chart.series[1].values.push_back(above_zero(after));
      chart.series[1].spread.push_back(deviation < after ? deviation : kGap);
      changes.values.push_back(change);
      shares.values.push_back(change / before);
    }
    absolute.points = relative.points = chart.points;
    absolute.series.push_back(std::move(changes));
    relative.series.push_back(std::move(shares));
    page.add_chart(chart);
  }
  page.add_chart(absolute);
  page.add_chart(relative);
}

void add_energies(Page& page, const Json& energies) {
  page.add_text(
      "How much of what tells nodes apart lies at which frequencies: the share of the energy of the columns, centred, "
      "in each band. Density is that share over the share of all eigenvalues that fall into the band: 1 is what noise "
      "would have, more than 1 at high frequencies is detail that was kept.");
  Chart shares{"Energy by band", "band of frequencies", "share of the energy", Chart::Kind::bars};
  Chart densities{"Density of the energy", "band of frequencies", "density", Chart::Kind::lines, true};
  std::vector<std::vector<std::string>> rows;
  for (const Json& one : energies) {
    ChartSeries share{one.at("name"), {}}, density = share;
    shares.points.clear();
    double low = 0, high = 0;
    for (const Json& band : one.at("bands")) {
      shares.points.push_back(band_name(band));
      share.values.push_back(number(band.at("share")));
      density.values.push_back(above_zero(number(band.at("density"))));
      (band.at("low").get<double>() < 1 - 1e-9 ? low : high) += share.values.back();
    }
    densities.points = shares.points;
    rows.push_back({share.name, fmt::format("{:.3f}", one.at("mean_frequency").get<double>()),
                    fmt::format("{:.1f} %", 100 * low), fmt::format("{:.1f} %", 100 * high),
                    fmt::format("{:.1f} %", 100 * one.at("beyond").get<double>())});
    shares.series.push_back(std::move(share));
    densities.series.push_back(std::move(density));
  }
  page.add_table({"", "mean frequency", "below 1", "1 and above", "not computed"}, rows);
  page.add_chart(shares);
  page.add_chart(densities);
}

}  // namespace

std::string spectrum_extent(int64_t eigenvectors, int64_t nodes, double highest) {
  return eigenvectors == nodes ? fmt::format("all {} eigenvectors", nodes)
                               : fmt::format("the {} lowest of {} eigenvectors, frequencies up to {:.3g} only",
                                             eigenvectors, nodes, highest);
}

void add_spectrum_charts(Page& page, const std::string& json, const std::string& source) {
  try {
    const Json spectrum = Json::parse(json);
    page.add_text(
        fmt::format("{}: {} nodes, {}.", spectrum.at("data").get<std::string>(), spectrum.at("nodes").get<int64_t>(),
                    spectrum_extent(spectrum.at("eigenvectors"), spectrum.at("nodes"), spectrum.at("highest"))));
    if (spectrum.contains("corruptions") && !spectrum["corruptions"].empty()) {
      page.add_heading("What corruptions change");
      add_corruptions(page, spectrum);
    }
    if (spectrum.contains("energies") && !spectrum["energies"].empty()) {
      page.add_heading("What encoders have learnt");
      add_energies(page, spectrum["energies"]);
    }
  } catch (const Json::exception&) {
    throw data_error(source + ": is not a spectrum");
  }
}

}  // namespace graphpae
