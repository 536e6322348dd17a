#include "graphpae/data/table_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "graphpae/core/error.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr size_t kMostWords = 100, kLongestWord = 40;

// A column of the result.
struct MadeColumn {
  std::string name;
  std::vector<float> values;  // [rows]
};

}  // namespace

bool is_hole(std::string_view text) {
  constexpr std::array<std::string_view, 6> kHoles = {"na", "n/a", "nan", "null", "none", "?"};
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  return std::find(kHoles.begin(), kHoles.end(), lower(text)) != kHoles.end();
}

TableColumns::TableColumns(int64_t columns, std::vector<std::string> names)
    : columns_(static_cast<size_t>(columns)), names_(std::move(names)) {}

std::string TableColumns::name_of(size_t column) const {
  return names_.empty() ? fmt::format("column {}", column + 1) : names_[column];
}

void TableColumns::set(int64_t row, int64_t column, std::string_view text, int64_t line) {
  Column& of = columns_[static_cast<size_t>(column)];
  const auto at = static_cast<size_t>(row);
  rows_ = std::max(rows_, row + 1);
  if (of.numbers.size() <= at) of.numbers.resize(at + 1, std::numeric_limits<float>::quiet_NaN());
  if (is_hole(text)) return void(++of.holes);
  if (const auto number = parse_real(text)) {
    const auto value = static_cast<float>(*number);
    if (!std::isfinite(value))
      throw data_error(fmt::format("{}: {} is not finite", name_of(static_cast<size_t>(column)), text));
    of.numbers[at] = value;
    return void(++of.count);
  }
  if (of.word_of.empty()) {
    of.first_word = text.substr(0, kLongestWord);
    of.first_word_line = line;
  }
  if (of.word_of.size() <= at) of.word_of.resize(at + 1, -1);
  // Beyond the limit only the fact counts.
  if (of.words.size() > kMostWords) return;
  of.word_of[at] = of.words.try_emplace(std::string(text), static_cast<int32_t>(of.words.size())).first->second;
}

NumberTable TableColumns::finish(const std::string& file) && {
  NumberTable table;
  table.rows = rows_;
  const auto rows = static_cast<size_t>(rows_);
  std::vector<MadeColumn> made;
  bool added = false;
  for (size_t c = 0; c < columns_.size(); ++c) {
    Column& of = columns_[c];
    const std::string name = name_of(c);
    of.numbers.resize(rows, std::numeric_limits<float>::quiet_NaN());
    if (!of.word_of.empty() && of.count > 0)
      throw data_error(fmt::format("{}:{}: {}: '{}' is not a number, as others of the column are", file,
                                   of.first_word_line, name, of.first_word));
    if (of.words.size() > kMostWords)
      throw data_error(
          fmt::format("{}:{}: {}: '{}' is not a number; a column of words may have at most {} different ones", file,
                      of.first_word_line, name, of.first_word, kMostWords));
    MadeColumn missing{name + " is missing", {}};
    if (of.holes > 0) missing.values.resize(rows);
    if (!of.word_of.empty()) {
      of.word_of.resize(rows, -1);
      std::vector<size_t> place(of.words.size());
      for (const auto& [word, number] : of.words) {
        place[static_cast<size_t>(number)] = made.size();
        made.push_back({name + "=" + word, std::vector<float>(rows)});
      }
      for (size_t row = 0; row < rows; ++row) {
        if (of.word_of[row] >= 0)
          made[place[static_cast<size_t>(of.word_of[row])]].values[row] = 1;
        else if (of.holes > 0)
          missing.values[row] = 1;
      }
      table.notes.push_back(
          fmt::format("feature column '{}' holds words: it becomes {} columns of 0 and 1", name, of.words.size()));
      added = true;
    } else {
      double sum = 0;
      for (const float value : of.numbers) sum += std::isnan(value) ? 0 : value;
      const auto mean = static_cast<float>(of.count > 0 ? sum / static_cast<double>(of.count) : 0);
      for (size_t row = 0; row < rows && of.holes > 0; ++row) {
        if (!std::isnan(of.numbers[row])) continue;
        of.numbers[row] = mean;
        missing.values[row] = 1;
      }
      made.push_back({name, std::move(of.numbers)});
    }
    if (of.holes == 0) continue;
    table.notes.push_back(
        fmt::format("feature column '{}' has {} missing values: {}, and a column of 0 and 1 says where", name, of.holes,
                    of.word_of.empty() ? "they get the mean of the column" : "they get no word"));
    made.push_back(std::move(missing));
    added = true;
  }
  if (added || !names_.empty()) {
    for (const MadeColumn& column : made) table.names.push_back(column.name);
  }
  table.values.resize(rows * made.size());
  for (size_t c = 0; c < made.size(); ++c) {
    for (size_t row = 0; row < rows; ++row) table.values[row * made.size() + c] = made[c].values[row];
    std::vector<float>().swap(made[c].values);
  }
  return table;
}

}  // namespace graphpae
