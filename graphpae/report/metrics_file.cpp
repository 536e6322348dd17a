#include "graphpae/report/metrics_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "graphpae/io/input_file.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void add_line(Metrics& metrics, const Json& json) {
  const int64_t epoch = json["epoch"].get<int64_t>();
  // A run that went on from an earlier checkpoint writes its epochs again.
  while (!metrics.epochs.empty() && metrics.epochs.back() >= epoch) {
    metrics.epochs.pop_back();
    for (auto& column : metrics.columns) column.values.pop_back();
  }
  metrics.epochs.push_back(epoch);
  for (auto& column : metrics.columns) column.values.push_back(kNone);
  for (const auto& [key, value] : json.items()) {
    if (key == "epoch" || !(value.is_number() || value.is_null())) continue;
    auto column = std::find_if(metrics.columns.begin(), metrics.columns.end(),
                               [&, name = std::string(key)](const auto& one) { return one.name == name; });
    if (column == metrics.columns.end())
      column = metrics.columns.insert(column, {key, std::vector<double>(metrics.epochs.size(), kNone)});
    if (value.is_number()) column->values.back() = value.get<double>();
  }
}

}  // namespace

bool Metrics::Column::empty() const {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

double Metrics::Column::mean() const {
  double sum = 0, count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return sum / count;
}

const Metrics::Column* Metrics::find(const std::string& name) const {
  for (const Column& column : columns) {
    if (column.name == name && !column.empty()) return &column;
  }
  return nullptr;
}

Metrics read_metrics(const std::string& path) {
  Metrics metrics;
  if (!std::filesystem::exists(path)) return metrics;
  LineReader reader(path);
  int64_t pending = 0;
  for (std::string_view line; reader.next(line);) {
    metrics.unreadable += pending;  // it was not the last line
    pending = 0;
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("epoch") && json["epoch"].is_number_integer())
      add_line(metrics, json);
    else
      pending = 1;
  }
  return metrics;
}

std::string metrics_csv(const Metrics& metrics) {
  std::string text = "epoch";
  for (const auto& column : metrics.columns) text += "," + column.name;
  text += "\n";
  for (size_t line = 0; line < metrics.epochs.size(); ++line) {
    text += std::to_string(metrics.epochs[line]);
    for (const auto& column : metrics.columns)
      text += std::isnan(column.values[line]) ? "," : fmt::format(",{}", column.values[line]);
    text += "\n";
  }
  return text;
}

}  // namespace graphpae
