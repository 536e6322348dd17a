#include "graphpae/data/table_columns.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

NumberTable table_of(const std::vector<std::vector<std::string>>& rows, std::vector<std::string> names = {}) {
  TableColumns columns(static_cast<int64_t>(rows.front().size()), std::move(names));
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t c = 0; c < rows[row].size(); ++c)
      columns.set(static_cast<int64_t>(row), static_cast<int64_t>(c), rows[row][c], static_cast<int64_t>(row) + 2);
  }
  return std::move(columns).finish("x.csv");
}

std::vector<float> values_of(const NumberTable& table) { return {table.values.begin(), table.values.end()}; }

TEST(TableColumns, NumbersStayAsTheyAre) {
  const NumberTable table = table_of({{"1", "2.5"}, {"-3", "1e3"}});
  EXPECT_EQ(values_of(table), (std::vector<float>{1, 2.5, -3, 1000}));
  EXPECT_TRUE(table.names.empty());
  EXPECT_TRUE(table.notes.empty());
  EXPECT_EQ(table_of({{"1", "2"}}, {"a", "b"}).names, (std::vector<std::string>{"a", "b"}));
}

TEST(TableColumns, WordsBecomeColumnsInAlphabeticalOrder) {
  const NumberTable table = table_of({{"red", "1"}, {"blue", "2"}, {"red", "3"}}, {"colour", "size"});
  EXPECT_EQ(table.names, (std::vector<std::string>{"colour=blue", "colour=red", "size"}));
  EXPECT_EQ(values_of(table), (std::vector<float>{0, 1, 1, 1, 0, 2, 0, 1, 3}));
  ASSERT_EQ(table.notes.size(), 1u);
  EXPECT_NE(table.notes[0].find("'colour' holds words: it becomes 2 columns"), std::string::npos) << table.notes[0];
}

TEST(TableColumns, HolesAreFilledAndFlagged) {
  const NumberTable table = table_of({{"1", "a"}, {"", "N/A"}, {"3", "b"}, {"nan", "a"}}, {"age", "kind"});
  EXPECT_EQ(table.names, (std::vector<std::string>{"age", "age is missing", "kind=a", "kind=b", "kind is missing"}));
  EXPECT_EQ(values_of(table), (std::vector<float>{1, 0, 1, 0, 0, 2, 1, 0, 0, 1, 3, 0, 0, 1, 0, 2, 1, 1, 0, 0}));
  EXPECT_EQ(table.notes.size(), 3u);
  EXPECT_EQ(values_of(table_of({{"?"}, {""}})), (std::vector<float>{0, 1, 0, 1}));  // nothing at all
  for (const char* hole : {"", "NA", "None", "null", "NaN", "?", "n/a"}) EXPECT_TRUE(is_hole(hole)) << hole;
  for (const char* word : {"0", "no", "nap", "nanometre", "-"}) EXPECT_FALSE(is_hole(word)) << word;
}

TEST(TableColumns, RefusesMixturesAndNames) {
  EXPECT_DATA_ERROR(table_of({{"1"}, {"2"}, {"2,5"}}, {"size"}),
                    "x.csv:4: size: '2,5' is not a number, as others of the column are");
  EXPECT_DATA_ERROR(table_of({{"1"}, {"inf"}}), "column 1: inf is not finite");
  std::vector<std::vector<std::string>> rows;
  for (int k = 0; k < 101; ++k) rows.push_back({"name " + std::to_string(k)});
  EXPECT_DATA_ERROR(table_of(rows),
                    "x.csv:2: column 1: 'name 0' is not a number; a column of words may have at most 100");
  rows.pop_back();
  EXPECT_EQ(table_of(rows).columns(), 100);
}

// Rows of a file may come in any order.
TEST(TableColumns, RowsInAnyOrder) {
  TableColumns columns(2, {"a", "b"});
  columns.set(2, 0, "x", 2);
  columns.set(2, 1, "7", 2);
  columns.set(0, 0, "y", 3);
  columns.set(0, 1, "", 3);
  columns.set(1, 0, "", 4);
  columns.set(1, 1, "9", 4);
  const NumberTable table = std::move(columns).finish("x.csv");
  EXPECT_EQ(table.names, (std::vector<std::string>{"a=x", "a=y", "a is missing", "b", "b is missing"}));
  EXPECT_EQ(values_of(table), (std::vector<float>{0, 1, 0, 8, 1, 0, 0, 1, 9, 0, 1, 0, 0, 7, 0}));
}

}  // namespace
}  // namespace graphpae
