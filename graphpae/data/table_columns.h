// Columns of a table of features as people keep them: numbers, words, holes. They become numbers alone.
//
//   numbers     stay as they are
//   words       one-hot: a column "NAME=word" of 0 and 1 for every word, in alphabetical order
//   holes       empty, na, n/a, nan, null, none or ? in any case: a number is filled with the mean of its column, a
//   word
//               with no word, and a column "NAME is missing" of 0 and 1 is added after the column
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graphpae/core/buffer.h"

namespace graphpae {

struct NumberTable {
  int64_t rows = 0;
  std::vector<std::string> names;  // [columns]; empty if none were given and nothing was added
  Buffer<float> values;            // [rows, columns]
  std::vector<std::string> notes;  // for the user, one line each
  int64_t columns() const { return rows == 0 ? 0 : static_cast<int64_t>(values.size()) / rows; }
};

bool is_hole(std::string_view text);

// Collects a table cell by cell.
class TableColumns {
 public:
  // names [columns], or empty: columns are then called "column 1", ... if they have to be called something.
  TableColumns(int64_t columns, std::vector<std::string> names);

  // The cell of a row; rows may come in any order, every row must have all of its cells in the end. `place` starts
  // errors, such as "x.csv:7". Throws a data error for a number that is not finite.
  void set(int64_t row, int64_t column, std::string_view text, int64_t line);

  // Throws a data error that names `file` and a line for a column that is mostly numbers but not only, and one of more
  // than 100 words.
  NumberTable finish(const std::string& file) &&;

 private:
  struct Column {
    std::vector<float> numbers;            // [rows] NaN: no number
    std::map<std::string, int32_t> words;  // numbered as they appear
    std::vector<int32_t> word_of;          // [rows] or shorter; -1: none
    int64_t count = 0, holes = 0;          // cells with a number, and with nothing
    int64_t first_word_line = 0;
    std::string first_word;
  };
  std::string name_of(size_t column) const;

  std::vector<Column> columns_;
  std::vector<std::string> names_;
  int64_t rows_ = 0;
};

}  // namespace graphpae
