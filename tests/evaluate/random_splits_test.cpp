#include "graphpae/evaluate/random_splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "graphpae/core/rng.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

using Ids = std::vector<int32_t>;

// Labels of every class as often as `sizes` says, in random order.
Ids shuffled_labels(const std::vector<int32_t>& sizes, int32_t unlabelled) {
  Ids sorted(unlabelled, -1);
  for (size_t cls = 0; cls < sizes.size(); ++cls) sorted.insert(sorted.end(), sizes[cls], static_cast<int32_t>(cls));
  Ids labels;
  for (const int32_t i : Rng(77).permutation(static_cast<int32_t>(sorted.size()))) labels.push_back(sorted[i]);
  return labels;
}

int64_t members(const Ids& part, const Ids& labels, int32_t cls) {
  return std::count_if(part.begin(), part.end(), [&](int32_t id) { return labels[id] == cls; });
}

void expect_sizes(const Split& split, size_t train, size_t val, size_t test) {
  EXPECT_EQ(split.train.size(), train);
  EXPECT_EQ(split.val.size(), val);
  EXPECT_EQ(split.test.size(), test);
}

TEST(RandomSplits, ANumberOfSplitsMayComeFirst) {
  EXPECT_EQ(parse_split_shares("5x60/20/20").count, 5);
  EXPECT_EQ(parse_split_shares("5x60/20/20").train, 0.6);
  EXPECT_EQ(parse_split_shares("60/20/20").count, 10);
  for (const char* wrong : {"0x60/20/20", "x60/20/20", "ax60/20/20", "-1x60/20/20"})
    EXPECT_USAGE_ERROR(parse_split_shares(wrong), "expected percent of train/val/test");
}

TEST(RandomSplits, ShareOutLabelledNodesOnce) {
  const Ids labels = shuffled_labels({40, 35, 25}, 50);
  const std::vector<Split> splits = random_splits(labels, {.train = 0.6, .val = 0.3, .test = 0.1, .count = 4});
  ASSERT_EQ(splits.size(), 4u);
  check_splits(splits, static_cast<int64_t>(labels.size()));  // disjoint, no repeats
  for (const Split& split : splits) {
    expect_sizes(split, 60, 30, 10);
    for (const Ids* part : {&split.train, &split.val, &split.test}) {
      EXPECT_TRUE(std::is_sorted(part->begin(), part->end()));
      for (const int32_t id : *part) EXPECT_GE(labels[id], 0);
    }
  }
}

TEST(RandomSplits, RoundByLargestRest) {
  // 11 nodes: 6.6, 2.2, 2.2 -> 7, 2, 2
  expect_sizes(random_splits(Ids(11, 0), {.count = 1})[0], 7, 2, 2);
  // 8 nodes: 4.8, 1.6, 1.6 -> 4, 1, 1 and the two that are left to train and val
  expect_sizes(random_splits(Ids(8, 0), {.count = 1})[0], 5, 2, 1);
  // 7 nodes: 4.2, 1.4, 1.4 -> 4, 1, 1 and the one that is left to val, before test
  expect_sizes(random_splits(Ids(7, 0), {.count = 1})[0], 4, 2, 1);
  // 0.29 * 100 is a little below 29 in binary.
  expect_sizes(random_splits(Ids(100, 0), {.train = 0.29, .val = 0.57, .test = 0.14, .count = 1})[0], 29, 57, 14);
  // 25 nodes: 2.5, 2.5, 5 and 15 in no part; the one that is left goes to train.
  expect_sizes(random_splits(Ids(25, 0), {.train = 0.1, .val = 0.1, .test = 0.2, .count = 1})[0], 3, 2, 5);
}

TEST(RandomSplits, DependOnSeedAndNumberOnly) {
  const Ids labels = shuffled_labels({50, 50}, 0);
  for (const bool stratified : {false, true}) {
    RandomSplitOptions options{.count = 5, .stratified = stratified, .seed = 3};
    const std::vector<Split> splits = random_splits(labels, options);
    EXPECT_EQ(random_splits(labels, options), splits);

    std::set<Ids> different;
    for (const Split& split : splits) different.insert(split.test);
    EXPECT_EQ(different.size(), 5u);

    options.count = 2;
    const std::vector<Split> fewer = random_splits(labels, options);
    EXPECT_EQ(fewer, std::vector<Split>(splits.begin(), splits.begin() + 2));

    options.seed = 4;
    EXPECT_NE(random_splits(labels, options), fewer);
  }
}

// Results are reported with their seed: what it gives must not change.
TEST(RandomSplits, StayTheSame) {
  const std::vector<Split> splits = random_splits(Ids(10, 0), {.count = 2, .seed = 1});
  EXPECT_EQ(splits[0], (Split{{0, 1, 3, 5, 7, 9}, {2, 8}, {4, 6}}));
  EXPECT_EQ(splits[1], (Split{{0, 2, 5, 6, 7, 8}, {1, 9}, {3, 4}}));
}

// Each of 40 nodes should be in test in a fifth of 2000 splits: 400, with a deviation of 18.
TEST(RandomSplits, TakeEveryNodeAsOften) {
  const Ids labels = shuffled_labels({20, 10, 10}, 0);
  for (const bool stratified : {false, true}) {
    std::vector<int> in_test(labels.size(), 0);
    for (const Split& split : random_splits(labels, {.count = 2000, .stratified = stratified})) {
      for (const int32_t id : split.test) ++in_test[id];
    }
    for (const int times : in_test) EXPECT_NEAR(times, 400, 90);
  }
}

TEST(StratifiedSplits, KeepSharesWithinClasses) {
  const Ids labels = shuffled_labels({100, 0, 50, 20}, 30);
  const std::vector<Split> splits = random_splits(labels, {.count = 3, .stratified = true});
  check_splits(splits, static_cast<int64_t>(labels.size()));
  for (const Split& split : splits) {
    expect_sizes(split, 102, 34, 34);
    EXPECT_EQ(members(split.train, labels, 0), 60);
    EXPECT_EQ(members(split.val, labels, 0), 20);
    EXPECT_EQ(members(split.train, labels, 2), 30);
    EXPECT_EQ(members(split.test, labels, 2), 10);
    EXPECT_EQ(members(split.train, labels, 3), 12);
    EXPECT_EQ(members(split.val, labels, 3), 4);
    EXPECT_EQ(members(split.test, labels, 3), 4);
  }
  // Without it, chance decides: 60 each time would be no chance.
  int exact = 0;
  for (const Split& split : random_splits(labels, {.count = 10})) exact += members(split.train, labels, 0) == 60;
  EXPECT_LT(exact, 10);
}

// Two members per class are 1.2, 0.4 and 0.4: rounded alone, every class would leave test without a node.
TEST(StratifiedSplits, KeepSharesOfSmallClassesTogether) {
  const Ids labels = shuffled_labels(std::vector<int32_t>(50, 2), 0);
  expect_sizes(random_splits(labels, {.count = 1, .stratified = true})[0], 60, 20, 20);
}

// 0.58 * 50 is a little below 29 in binary. Train, which had the one node of class 0, must not lose it for that.
TEST(StratifiedSplits, GiveWholeSharesWhatever) {
  const Ids labels = shuffled_labels({1, 50}, 0);
  const Split split =
      random_splits(labels, {.train = 0.58, .val = 0.21, .test = 0.21, .count = 1, .stratified = true})[0];
  EXPECT_EQ(members(split.train, labels, 0), 1);
  EXPECT_EQ(members(split.train, labels, 1), 29);
}

// Classes of one size: the choice in one must not repeat that of the other.
TEST(StratifiedSplits, DrawClassesApart) {
  Ids labels;
  for (int32_t node = 0; node < 100; ++node) labels.push_back(node % 2);
  const Split split = random_splits(labels, {.count = 1, .stratified = true})[0];
  std::set<int32_t> pairs;
  for (const int32_t id : split.test) pairs.insert(id / 2);
  EXPECT_GT(pairs.size(), 10u);
}

TEST(StratifiedSplits, RoundDownOrUpInEveryClassAndInSum) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const Rng rng(seed);
    std::vector<int32_t> sizes;
    for (uint64_t cls = 0; cls < 2 + rng.below(0, 30); ++cls) {
      sizes.push_back(static_cast<int32_t>(rng.stream(1).below(cls, 40)));
    }
    sizes[0] += 20;
    const Ids labels = shuffled_labels(sizes, 5);
    const double labelled = static_cast<double>(labels.size()) - 5;
    const RandomSplitOptions options{.train = 0.48, .val = 0.32, .test = 0.13, .count = 1, .stratified = true};
    const Split split = random_splits(labels, options)[0];
    check_splits({split}, static_cast<int64_t>(labels.size()));
    const Ids* parts[] = {&split.train, &split.val, &split.test};
    const double shares[] = {options.train, options.val, options.test};
    for (int part = 0; part < 3; ++part) {
      EXPECT_NEAR(static_cast<double>(parts[part]->size()), shares[part] * labelled, 1) << seed;
      for (size_t cls = 0; cls < sizes.size(); ++cls) {
        const auto found = static_cast<double>(members(*parts[part], labels, static_cast<int32_t>(cls)));
        const double exact = shares[part] * sizes[cls];
        EXPECT_GE(found, std::floor(exact + 1e-6)) << seed;
        EXPECT_LE(found, std::ceil(exact - 1e-6)) << seed;
      }
    }
  }
}

TEST(RandomSplits, RefuseEmptyParts) {
  const RandomSplitOptions all{}, few{.train = 0.9, .val = 0.09, .test = 0.01};
  EXPECT_DATA_ERROR(random_splits(Ids{0, 1, -1, -1}, all), "60/20/20: none of 2 labelled ones is left for test");
  EXPECT_DATA_ERROR(random_splits(Ids(10, 1), few), "90/9/1: none of 10 labelled ones is left for test");
  EXPECT_DATA_ERROR(random_splits(Ids(5, -1), all), "none of 0 labelled ones is left for train");
  EXPECT_DATA_ERROR(random_splits({}, all), "none of 0 labelled ones is left for train");
}

TEST(RandomSplits, RefuseOptionsOutOfRange) {
  const Ids labels(100, 0);
  EXPECT_USAGE_ERROR(random_splits(labels, {.train = 0}), "share of train is 0%");
  EXPECT_USAGE_ERROR(random_splits(labels, {.val = -0.5}), "share of val is -50%");
  EXPECT_USAGE_ERROR(random_splits(labels, {.test = std::numeric_limits<double>::quiet_NaN()}),
                     "share of test is nan%");
  EXPECT_USAGE_ERROR(random_splits(labels, {.test = 0.3}), "add up to 110%");
  EXPECT_USAGE_ERROR(random_splits(labels, {.count = 0}), "0 random splits");
}

TEST(SplitShares, AreReadAsPercent) {
  const RandomSplitOptions options = parse_split_shares("60/25/15");
  EXPECT_DOUBLE_EQ(options.train, 0.6);
  EXPECT_DOUBLE_EQ(options.val, 0.25);
  EXPECT_DOUBLE_EQ(options.test, 0.15);
  EXPECT_EQ(options.count, 10);
  EXPECT_FALSE(options.stratified);
  EXPECT_EQ(options.seed, 0u);

  const RandomSplitOptions decimal = parse_split_shares("2.5/0.5/90");
  EXPECT_DOUBLE_EQ(decimal.train, 0.025);
  EXPECT_DOUBLE_EQ(decimal.val, 0.005);
  EXPECT_DOUBLE_EQ(decimal.test, 0.9);

  // Sums of 100 that rounding puts a little beside it.
  for (const char* text : {"33.3/33.3/33.4", "33.4/33.3/33.3", "19.1/69.9/11", "35.2/53.4/11.4"}) {
    EXPECT_NO_THROW(parse_split_shares(text)) << text;
  }
}

TEST(SplitShares, RefuseOtherText) {
  for (const char* text :
       {"",          "60",        "60/40",       "60/20/20/0", "60/20/",    "/20/20",    "60//40",      "a/b/c",
        "60/20/x",   "60,20,20",  "60/20/-20",   "+60/20/20",  " 60/20/20", "60/20/20 ", "60%/20%/20%", "6e1/20/20",
        "nan/20/20", "inf/20/20", "1.2.3/20/20", "./20/20",    "60/20/20\n"}) {
    EXPECT_USAGE_ERROR(parse_split_shares(text), "': expected percent of train/val/test, such as 60/20/20");
  }
  EXPECT_USAGE_ERROR(parse_split_shares("60/40"), "splits '60/40'");
  EXPECT_USAGE_ERROR(parse_split_shares("60/20/20\n"), "splits '60/20/20?'");
  EXPECT_USAGE_ERROR(parse_split_shares(std::string(400, '9') + "/20/20"), "expected percent");
  EXPECT_USAGE_ERROR(parse_split_shares("0/50/50"), "splits '0/50/50': share of train is 0%, expected above 0");
  EXPECT_USAGE_ERROR(parse_split_shares("50/0.0/50"), "share of val is 0%");
  EXPECT_USAGE_ERROR(parse_split_shares("50/50/0"), "share of test is 0%");
  EXPECT_USAGE_ERROR(parse_split_shares("60/30/20"), "splits '60/30/20': shares add up to 110%, over 100");
  EXPECT_USAGE_ERROR(parse_split_shares("60/20/20.001"), "shares add up to 100.001%, over 100");
}

TEST(LabelledOnly, DropsUnlabelledIds) {
  const Ids labels = {0, -1, 2, -1, 1, 0};
  const std::vector<Split> splits = {{{0, 1, 2}, {3, 4}, {5}}, {{4, 3}, {1}, {}}};
  const std::vector<Split> expected = {{{0, 2}, {4}, {5}}, {{4}, {}, {}}};
  EXPECT_EQ(labelled_only(splits, labels), expected);
  EXPECT_TRUE(labelled_only({}, labels).empty());
}

TEST(LabelledOnly, RefusesIdsWithoutALabelEntry) {
  const Ids labels = {0, 1};
  EXPECT_DATA_ERROR(labelled_only({{{0}, {2}, {}}}, labels), "split 0: val id 2 is outside 0..1");
}

}  // namespace
}  // namespace graphpae
