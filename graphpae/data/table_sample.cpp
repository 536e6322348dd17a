#include "graphpae/data/table_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "graphpae/data/edge_lines.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr size_t kMaxFields = 200'000;  // of wide tables fewer rows are enough

// "# Nodes: 2708 Edges: 5429" -> 2708; -1 if the comment says nothing of the kind.
int64_t announced(std::string_view comment) {
  const std::string text = lower(comment);
  const size_t word = text.find("nodes");
  if (word == std::string::npos) return -1;
  const size_t digits = text.find_first_not_of(":= \t", word + 5);
  if (digits == std::string::npos || digits == word + 5) return -1;
  const size_t end = std::min(text.find_first_not_of("0123456789", digits), text.size());
  return parse_int(std::string_view(text).substr(digits, end - digits)).value_or(-1);
}

}  // namespace

TableSample sample_table(const std::string& path, size_t rows) {
  LineReader reader(path);
  TableSample sample;
  sample.path = path;
  std::string_view line;
  std::vector<std::string> fields;
  size_t held = 0;
  while (sample.rows.size() < rows && held < kMaxFields && reader.next(line)) {
    const std::string_view text = trim(line);
    if (is_comment_line(text)) {
      if (sample.announced_nodes < 0 && !text.empty()) sample.announced_nodes = announced(text);
      continue;
    }
    if (sample.rows.empty()) sample.delimiter = sniff_delimiter(text);
    // A tab in front is an empty field, tabs behind are not.
    const std::string_view whole =
        sample.delimiter == '\t' ? line.substr(0, static_cast<size_t>(text.data() + text.size() - line.data())) : text;
    if (!split_fields(whole, sample.delimiter, fields)) throw reader.error("a quote is not closed");
    for (std::string& field : fields) field = std::string(trim(field));
    held += fields.size();
    sample.rows.push_back(fields);
    sample.lines.push_back(reader.line_number());
  }
  return sample;
}

ColumnFacts facts_of(const TableSample& sample, size_t first_row, size_t column) {
  ColumnFacts facts;
  std::optional<int64_t> first;
  int64_t count = 0;
  for (size_t row = first_row; row < sample.rows.size(); ++row) {
    if (column >= sample.rows[row].size()) continue;
    const std::string& text = sample.rows[row][column];
    const std::optional<int64_t> number = parse_int(text);
    facts.whole = facts.whole && number;
    facts.numbers = facts.numbers && (number || parse_real(text));
    if (!first) first = number.value_or(-1);
    facts.counting = facts.counting && number && *number == *first + count;
    facts.values.insert(text);
    ++count;
  }
  facts.counting = facts.counting && count >= 3 && (first == 0 || first == 1);
  if (count == 0) facts.whole = facts.numbers = false;
  return facts;
}

double shared_values(const ColumnFacts& a, const ColumnFacts& b) {
  const auto& fewer = a.values.size() < b.values.size() ? a.values : b.values;
  const auto& more = a.values.size() < b.values.size() ? b.values : a.values;
  if (fewer.empty()) return 0;
  const auto shared =
      std::count_if(fewer.begin(), fewer.end(), [&](const auto& value) { return more.contains(value); });
  return static_cast<double>(shared) / static_cast<double>(fewer.size());
}

std::string shown_rows(const TableSample& sample) {
  constexpr size_t kRows = 3, kColumns = 8, kLongest = 24;
  std::string text;
  for (size_t row = 0; row < std::min(kRows, sample.rows.size()); ++row) {
    text += text.empty() ? "[" : " [";
    const std::vector<std::string>& fields = sample.rows[row];
    for (size_t c = 0; c < std::min(kColumns, fields.size()); ++c)
      text += (c > 0 ? " | " : "") + (fields[c].size() > kLongest ? fields[c].substr(0, kLongest) + "..." : fields[c]);
    if (fields.size() > kColumns) text += fmt::format(" | ... {} columns", fields.size());
    text += "]";
  }
  return text;
}

}  // namespace graphpae
