#include "graphpae/report/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "graphpae/embedded_report.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

std::string embedded(const std::string& name) {
  for (const auto& [key, text] : kEmbeddedReport) {
    if (key == name) return std::string(text);
  }
  return "";
}

// Six digits are more than a chart shows, and keep the file small.
Json number(double value) { return std::isfinite(value) ? Json::parse(fmt::format("{:.6g}", value)) : Json(); }

Json numbers(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(number(value));
  return json;
}

// Text as HTML shows it.
std::string escape_html(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; }

// Text inside a script must not end it.
std::string inside_script(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return text;
}

using Table = std::pair<std::vector<std::string>, Page::Rows>;  // head, rows

// A row per point.
Table chart_numbers(const Chart& chart) {
  Table table{{chart.kind == Chart::Kind::scores ? "" : chart.x_title}, {}};
  for (const ChartSeries& one : chart.series) {
    table.first.push_back(one.name);
    if (!one.spread.empty()) table.first.emplace_back("its deviation");
    if (!one.low.empty()) table.first.insert(table.first.end(), {"from", "to"});
  }
  for (size_t p = 0; p < chart.points.size(); ++p) {
    std::vector<std::string> row = {chart.points[p]};
    for (const ChartSeries& one : chart.series) {
      row.push_back(cell(one.values[p]));
      if (!one.spread.empty()) row.push_back(cell(one.spread[p]));
      if (!one.low.empty()) row.insert(row.end(), {cell(one.low[p]), cell(one.high[p])});
    }
    table.second.push_back(std::move(row));
  }
  return table;
}

// A row per point of every curve.
Table curve_numbers(const Chart& chart) {
  Table table{{"", chart.x_title, chart.y_title}, {}};
  for (const ChartSeries& one : chart.series) {
    for (size_t p = 0; p < one.values.size() && !one.reference; ++p)
      table.second.push_back({one.name, cell(one.x[p]), cell(one.values[p])});
  }
  return table;
}

}  // namespace

std::string with_blanks(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

void Page::add_heading(const std::string& text) { body_ += fmt::format("<h2>{}</h2>\n", escape_html(text)); }

void Page::add_text(const std::string& text) { body_ += fmt::format("<p>{}</p>\n", escape_html(text)); }

void Page::add_verdict(const std::string& text, int standing) {
  body_ += fmt::format("<p class=\"verdict{}\">{}</p>\n",
                       standing > 0   ? " better"
                       : standing < 0 ? " worse"
                                      : "",
                       escape_html(text));
}

void Page::add_note(const std::string& text) {
  body_ += fmt::format("<p class=\"note\" role=\"note\">{}</p>\n", escape_html(text));
}

void Page::add_code(const std::string& text) {
  body_ += fmt::format("<pre tabindex=\"0\">{}</pre>\n", escape_html(text));
}

void Page::add_table(const std::vector<std::string>& head, const Rows& rows) {
  body_ += "<div class=\"wide\"><table><thead><tr>";
  for (const std::string& text : head) body_ += fmt::format("<th scope=\"col\">{}</th>", escape_html(text));
  body_ += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (const std::string& text : row) body_ += fmt::format("<td>{}</td>", escape_html(text));
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::add_details(const std::string& summary, const std::vector<std::string>& head, const Rows& rows) {
  body_ += fmt::format("<details><summary>{}</summary>\n", escape_html(summary));
  add_table(head, rows);
  body_ += "</details>\n";
}

void Page::add_chart(const Chart& chart) {
  Json series = Json::array();
  for (const ChartSeries& one : chart.series) {
    series.push_back({{"label", one.name}, {"data", numbers(one.values)}});
    Json& json = series.back();
    if (!one.spread.empty()) json["spread"] = numbers(one.spread);
    if (!one.low.empty()) json.update({{"low", numbers(one.low)}, {"high", numbers(one.high)}});
    if (chart.kind == Chart::Kind::curves) json["x"] = numbers(one.x);
    if (one.reference) json["reference"] = true;
  }
  constexpr const char* kKinds[] = {"line", "bar", "scores", "curves"};
  const std::string id = fmt::format("chart{}", charts_.size());
  charts_.push_back(inside_script({{"id", id},
                                   {"kind", kKinds[static_cast<size_t>(chart.kind)]},
                                   {"title", chart.title},
                                   {"x", chart.x_title},
                                   {"y", chart.y_title},
                                   {"logarithmic", chart.logarithmic},
                                   {"fromZero", chart.from_zero},
                                   {"points", chart.points},
                                   {"series", series}}));
  // Bars below each other need room for each.
  const size_t bars = chart.kind == Chart::Kind::scores ? chart.points.size() * chart.series.size() : 0;
  const std::string height = bars > 0 ? fmt::format(" style=\"height:{:.1f}rem\"", 5.5 + 1.9 * bars) : "";
  body_ +=
      fmt::format("<figure><div class=\"chart{}\"{}><canvas id=\"{}\" role=\"img\" aria-label=\"{}\"></canvas></div>\n",
                  chart.kind == Chart::Kind::curves ? " curves" : "", height, id, escape_html(chart.title));
  const auto [head, rows] = chart.kind == Chart::Kind::curves ? curve_numbers(chart) : chart_numbers(chart);
  add_details("numbers", head, rows);
  body_ += "</figure>\n";
}

void Page::add_confusion(const std::vector<std::string>& names, const std::vector<std::vector<double>>& counts) {
  body_ += "<div class=\"wide\"><table class=\"confusion\"><thead><tr><th scope=\"col\">is \\ predicted</th>";
  for (const std::string& name : names) body_ += fmt::format("<th scope=\"col\">{}</th>", escape_html(name));
  body_ += "</tr></thead><tbody>\n";
  for (size_t r = 0; r < names.size(); ++r) {
    double total = 0;
    for (const double count : counts[r]) total += count;
    body_ += fmt::format("<tr><th scope=\"row\">{}</th>", escape_html(names[r]));
    for (size_t c = 0; c < names.size(); ++c) {
      const double share = total > 0 ? counts[r][c] / total : 0;
      body_ += fmt::format("<td{} style=\"--share:{:.3f}\">{:.1f} %<small>{:.0f}</small></td>",
                           share > 0.55 ? " class=\"strong\"" : "", share, 100 * share, counts[r][c]);
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::add_map(const EmbeddingMap& map) {
  Json projections = Json::array();
  for (const auto& p : map.projections)
    projections.push_back({{"name", p.name}, {"note", p.note}, {"x", numbers(p.x)}, {"y", numbers(p.y)}});
  const std::string id = fmt::format("map{}", maps_.size());
  maps_.push_back(inside_script({{"id", id},
                                 {"kind", map.kind},
                                 {"groupedBy", map.grouped_by},
                                 {"groups", map.groups},
                                 {"ordered", map.ordered},
                                 {"ids", map.ids},
                                 {"group", map.group},
                                 {"projections", projections},
                                 {"drawings", map.drawings}}));
  body_ += fmt::format(
      "<figure class=\"map\" id=\"{0}\">\n<div class=\"choices\" role=\"group\" aria-label=\"projection\"></div>\n"
      "<div class=\"choices groups\" role=\"group\" aria-label=\"{1}\"></div>\n"
      "<p class=\"about\"></p>\n<div class=\"plane\"><div class=\"chart square\"><canvas tabindex=\"0\" role=\"img\" "
      "aria-label=\"map of embeddings; arrow keys go from point to point\"></canvas></div>\n"
      "<div class=\"drawing\" hidden></div></div>\n<p class=\"point\" aria-live=\"polite\">{2}</p>\n</figure>\n",
      id, escape_html(map.grouped_by), "Point at a mark, or press the arrow keys, to see what it is.");
}

std::string Page::html() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src "
      "'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>\n{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{2}</main>\n"
      "<script>\n{3}\n</script>\n<script>\nconst charts = [{4}];\nconst maps = "
      "[{5}];\n{6}</script>\n</body>\n</html>\n",
      escape_html(title_), embedded("page_style"), body_, embedded("chart"), fmt::join(charts_, ",\n"),
      fmt::join(maps_, ",\n"), embedded("page_script"));
}

}  // namespace graphpae
