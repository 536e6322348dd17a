#include "graphpae/report/page.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

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

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string cell(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; }

// Text inside a script must not end it.
std::string inside_script(const Json& json) {
  std::string text = json.dump();
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3) text.replace(at, 2, "<\\/");
  return text;
}

}  // namespace

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

void Page::add_heading(const std::string& text) { body_ += fmt::format("<h2>{}</h2>\n", escape_html(text)); }

void Page::add_text(const std::string& text) { body_ += fmt::format("<p>{}</p>\n", escape_html(text)); }

void Page::add_code(const std::string& text) { body_ += fmt::format("<pre>{}</pre>\n", escape_html(text)); }

void Page::add_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  body_ += "<table><thead><tr>";
  for (const std::string& text : head) body_ += fmt::format("<th scope=\"col\">{}</th>", escape_html(text));
  body_ += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (const std::string& text : row) body_ += fmt::format("<td>{}</td>", escape_html(text));
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table>\n";
}

void Page::add_chart(const Chart& chart) {
  Json series = Json::array();
  std::vector<std::string> head = {chart.x_title};
  for (const ChartSeries& one : chart.series) {
    Json values = Json::array();
    for (const double value : one.values) values.push_back(number(value));
    series.push_back({{"label", one.name}, {"data", values}});
    head.push_back(one.name);
  }
  const std::string id = fmt::format("chart{}", charts_.size());
  charts_.push_back(inside_script({{"id", id},
                                   {"kind", chart.kind == Chart::Kind::lines ? "line" : "bar"},
                                   {"title", chart.title},
                                   {"x", chart.x_title},
                                   {"y", chart.y_title},
                                   {"logarithmic", chart.logarithmic},
                                   {"points", chart.points},
                                   {"series", series}}));
  body_ += fmt::format(
      "<figure><div class=\"chart\"><canvas id=\"{}\" role=\"img\" aria-label=\"{}\"></canvas></div>\n"
      "<details><summary>numbers</summary>\n",
      id, escape_html(chart.title));
  std::vector<std::vector<std::string>> rows;
  for (size_t p = 0; p < chart.points.size(); ++p) {
    rows.push_back({chart.points[p]});
    for (const ChartSeries& one : chart.series) rows.back().push_back(cell(one.values[p]));
  }
  add_table(head, rows);
  body_ += "</details></figure>\n";
}

std::string Page::html() const {
  std::string charts;
  for (const std::string& chart : charts_) charts += (charts.empty() ? "" : ",\n") + chart;
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>\n{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{2}</main>\n"
      "<script>\n{3}\n</script>\n<script>\nconst charts = [{4}];\n{5}</script>\n</body>\n</html>\n",
      escape_html(title_), embedded("page_style"), body_, embedded("chart"), charts, embedded("page_script"));
}

}  // namespace graphpae
