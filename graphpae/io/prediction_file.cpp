#include "graphpae/io/prediction_file.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

std::string table_text(const PredictionTable& table, char separator) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  const size_t width = table.columns.size(), rows = table.values.size() / width;
  fmt::format_to(out, "{}", table.row_name);
  if (!table.labels.empty()) fmt::format_to(out, "{}{}", separator, table.label_name);
  for (const std::string& column : table.columns)
    fmt::format_to(out, "{}{}", separator, table_field(column, separator));
  for (size_t r = 0; r < rows; ++r) {
    const std::string name = table.rows.empty() ? std::to_string(r) : std::string(table.rows[static_cast<int64_t>(r)]);
    fmt::format_to(out, "\n{}", table_field(name, separator));
    if (!table.labels.empty()) fmt::format_to(out, "{}{}", separator, table_field(table.labels[r], separator));
    for (size_t t = 0; t < width; ++t) {
      text.push_back(separator);
      const double value = table.values[r * width + t];
      if (!std::isnan(value)) fmt::format_to(out, "{:.7g}", value);
    }
  }
  text.push_back('\n');
  return fmt::to_string(text);
}

}  // namespace

void check_prediction_path(const std::string& path) {
  for (const char* suffix : {".csv", ".tsv", ".npy"}) {
    if (path.ends_with(suffix)) return;
  }
  throw usage_error(fmt::format("{}: unknown kind of file, expected .csv, .tsv or .npy", path));
}

void write_predictions(const std::string& path, const PredictionTable& table) {
  check_prediction_path(path);
  if (path.ends_with(".csv")) return write_file(path, table_text(table, ','));
  if (path.ends_with(".tsv")) return write_file(path, table_text(table, '\t'));
  const int64_t width = static_cast<int64_t>(table.columns.size());
  write_file(path, npy_bytes(table.values, {static_cast<int64_t>(table.values.size()) / width, width}));
}

}  // namespace graphpae
