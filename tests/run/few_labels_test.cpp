#include "graphpae/run/few_labels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graphpae/core/rng.h"
#include "tests/support/expect_error.h"

namespace graphpae::run {
namespace {

TEST(FewLabels, ListsAreReadAndRefused) {
  EXPECT_EQ(parse_label_counts("20,1,all,5,5"), (std::vector<int64_t>{1, 5, 20, 0}));
  EXPECT_USAGE_ERROR(parse_label_counts("1,some"), "--labels-per-class 1,some");
  EXPECT_USAGE_ERROR(parse_label_counts("0"), "from 1");
  EXPECT_USAGE_ERROR(parse_label_counts(""), "from 1");
}

TEST(FewLabels, SubsetsAreNestedAndOfEveryClass) {
  std::vector<int32_t> labels;
  Split split;
  for (int32_t i = 0; i < 60; ++i) {
    labels.push_back(i % 3);
    (i < 40 ? split.train : split.test).push_back(i);
  }
  split.val = {split.test.back()};
  split.test.pop_back();
  std::vector<int32_t> before;
  for (const int64_t count : {1, 4, 100, 0}) {
    const Split few = few_of(split, labels, 3, count, 7);
    for (int32_t c = 0; c < 3; ++c) {
      const auto own = std::count_if(few.train.begin(), few.train.end(), [&](int32_t i) { return labels[i] == c; });
      const auto all = std::count_if(split.train.begin(), split.train.end(), [&](int32_t i) { return labels[i] == c; });
      EXPECT_EQ(own, count == 0 ? all : std::min<int64_t>(count, all));
    }
    EXPECT_TRUE(std::includes(few.train.begin(), few.train.end(), before.begin(), before.end()));
    EXPECT_EQ(few.test, split.test);
    before = few.train;
  }
  EXPECT_NE(few_of(split, labels, 3, 4, 7).train, few_of(split, labels, 3, 4, 8).train);
}

TEST(FewLabels, CurvesRiseWithLabels) {
  std::vector<int32_t> labels;
  Buffer<float> values;
  Split split;
  for (int32_t i = 0; i < 300; ++i) {
    labels.push_back(i % 3);
    for (int32_t d = 0; d < 12; ++d)
      values.push_back(
          static_cast<float>(Rng(2).normal(static_cast<uint64_t>(i * 12 + d)) + (d % 3 == i % 3 ? 0.9 : 0)));
    (i < 120 ? split.train : i < 180 ? split.val : split.test).push_back(i);
  }
  const Features rows = Features::dense(300, 12, std::move(values));
  const FewLabels curves = draw_curves({{"own", "own rows", {{&rows}}}}, {1, 20, 0}, labels, 3, {split}, {}, {});
  EXPECT_EQ(curves.draws, (std::vector<int64_t>{10, 10, 1}));
  ASSERT_EQ(curves.rows.size(), 1u);
  EXPECT_EQ(curves.rows[0].scores[0].seeds, 10);
  EXPECT_EQ(curves.rows[0].scores[0].splits, 1);
  EXPECT_GT(curves.rows[0].scores[1].summary().mean, curves.rows[0].scores[0].summary().mean + 0.1);
  EXPECT_GE(curves.rows[0].scores[2].summary().mean, curves.rows[0].scores[1].summary().mean - 0.02);
}

}  // namespace
}  // namespace graphpae::run
