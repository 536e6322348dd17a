// Feature columns matched by name.
#include "graphpae/run/match_columns.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace graphpae::run {
namespace {

using Names = std::vector<std::string>;

Dataset table(const Names& names, bool sparse) {
  GraphParts parts;
  parts.num_nodes = 2;
  parts.edges = {{Edge{0, 1}}};
  parts.features = sparse ? Features::sparse(2, 3, {0, 2, 4}, {0, 1, 1, 2}, {1, 2, 5, 6})
                          : Features::dense(2, 3, {1, 2, 0, 0, 5, 6});
  parts.feature_names = names;
  return {Graph(std::move(parts)), "edge list", {}, 0, {}, {}};
}

std::vector<float> row(const Dataset& data, int64_t node) {
  std::vector<float> values(static_cast<size_t>(data.graph().features().columns()));
  data.graph().features().copy_row(node, values.data());
  return values;
}

class MatchColumns : public testing::TestWithParam<bool> {};

TEST_P(MatchColumns, OrderDoesNotMatter) {
  Dataset data = table({"c", "b", "a"}, GetParam());
  match_columns(Names{"a", "b", "c"}, data, MissingColumns::error);
  EXPECT_EQ(row(data, 0), (std::vector<float>{0, 2, 1}));
  EXPECT_EQ(row(data, 1), (std::vector<float>{6, 5, 0}));
  EXPECT_EQ(data.graph().feature_names(), (Names{"a", "b", "c"}));
  EXPECT_TRUE(data.notes.empty());
}

TEST_P(MatchColumns, ExtraColumnsAreLeftOutMissingOnesRefusedOrZero) {
  Dataset data = table({"c", "b", "a"}, GetParam());
  EXPECT_DATA_ERROR(match_columns(Names{"a", "height", "c"}, data, MissingColumns::error),
                    "feature column height, which the data do not have");
  match_columns(Names{"a", "height", "c"}, data, MissingColumns::zero);
  EXPECT_EQ(row(data, 0), (std::vector<float>{0, 0, 1}));
  ASSERT_EQ(data.notes.size(), 2u);
  EXPECT_EQ(data.notes[0], "1 of 3 feature columns of the model are not in the data and are zero: height");
  EXPECT_EQ(data.notes[1], "1 feature column the model does not know is left out: b");
}

TEST_P(MatchColumns, WithoutNamesPlacesDecide) {
  Dataset data = table({}, GetParam());
  match_columns(Names{"a", "b", "c"}, data, MissingColumns::error);
  EXPECT_EQ(row(data, 0), (std::vector<float>{1, 2, 0}));
  Dataset named = table({"c", "b", "a"}, GetParam());
  match_columns(Names{}, named, MissingColumns::error);
  EXPECT_EQ(row(named, 0), (std::vector<float>{1, 2, 0}));
  Dataset twice = table({"c", "c", "a"}, GetParam());
  EXPECT_DATA_ERROR(match_columns(Names{"a", "c"}, twice, MissingColumns::error), "two feature columns are called 'c'");
}

INSTANTIATE_TEST_SUITE_P(Storage, MatchColumns, testing::Bool());

}  // namespace
}  // namespace graphpae::run
