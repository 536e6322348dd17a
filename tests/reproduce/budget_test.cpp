#include "graphpae/reproduce/budget.h"

#include <gtest/gtest.h>

#include "graphpae/reproduce/tune.h"
#include "tests/reproduce/sample_records.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

using test::sample_record;

TEST(Budget, DurationsAreReadAndWritten) {
  EXPECT_DOUBLE_EQ(parse_duration("90"), 90);
  EXPECT_DOUBLE_EQ(parse_duration("90s"), 90);
  EXPECT_DOUBLE_EQ(parse_duration("30m"), 1800);
  EXPECT_DOUBLE_EQ(parse_duration("1.5h"), 5400);
  EXPECT_DOUBLE_EQ(parse_duration("1h30m"), 5400);
  EXPECT_DOUBLE_EQ(parse_duration("1d"), 86400);
  for (const char* text : {"", "x", "10x", "-5m", "0", "h", "nanm"})
    EXPECT_USAGE_ERROR(parse_duration(text), "is not a time");
  EXPECT_EQ(duration_text(1.24), "1.2 s");
  EXPECT_EQ(duration_text(45.2), "45 s");
  EXPECT_EQ(duration_text(720), "12 min");
  EXPECT_EQ(duration_text(12240), "3.4 h");
}

TEST(Budget, CostsComeFromTheSameCellThenFromTheSameData) {
  std::vector<Record> records = {sample_record("a", 0, {{0.5}}), sample_record("a", 1, {{0.5}}, {{"alpha", "0.5"}})};
  records[1].training_seconds = 300;
  records[0].seconds_per_epoch = 0.05;  // the median of a run with some slow epochs, which are no fixed cost
  const JobIdentity job = sample_record("a", 5, {{0.5}}).identity;
  const auto cost = recorded_cost(records, job, "some processor");
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->per_epoch, 0.1);
  EXPECT_DOUBLE_EQ(cost->fixed, 20);  // 120 seconds less 1000 epochs
  EXPECT_DOUBLE_EQ(cost->of(10), 21);
  const auto other =
      recorded_cost(records, sample_record("a", 0, {{0.5}}, {{"alpha", "0.25"}}).identity, "some processor");
  ASSERT_TRUE(other);
  EXPECT_DOUBLE_EQ(other->per_epoch, 0.3);  // the newest
  // The newest by its date: an old file may be read last.
  records.push_back(sample_record("a", 2, {{0.5}}));
  records.back().training_seconds = 5000;
  records.back().date = "2024-12-31T00:00:00Z";
  EXPECT_DOUBLE_EQ(recorded_cost(records, job, "some processor")->per_epoch, 0.1);
  JobIdentity search = job;
  search.verb = "tune";  // the same work
  EXPECT_DOUBLE_EQ(recorded_cost(records, search, "some processor")->per_epoch, 0.1);
  search.verb = "supervised";
  EXPECT_FALSE(recorded_cost(records, search, "some processor"));
  EXPECT_FALSE(recorded_cost(records, sample_record("b", 0, {{0.5}}).identity, "some processor"));
  EXPECT_FALSE(recorded_cost(records, job, "another processor"));
}

TEST(Budget, MoreSeedsFirstThenFewerEpochs) {
  const std::vector<CellCost> cells = {{{0.1, 20}, 1000, 0}, {{0.2, 20}, 1000, 0}};  // 120 and 220 seconds a run
  EXPECT_EQ(plan_budget(cells, 10, 1e6).seeds, 10);
  const BudgetPlan three = plan_budget(cells, 10, 3 * 340 + 100);
  EXPECT_EQ(three.seeds, 3);
  EXPECT_DOUBLE_EQ(three.share, 1);
  EXPECT_DOUBLE_EQ(three.seconds, 3 * 340);
  const BudgetPlan cut = plan_budget(cells, 10, 190);  // 40 fixed, 150 for 300 at full length
  EXPECT_EQ(cut.seeds, 1);
  EXPECT_NEAR(cut.share, 0.5, 0.02);
  EXPECT_LE(cut.seconds, 190);
  EXPECT_EQ(cut.left_out, (std::vector<bool>{false, false}));
  // What is done costs nothing.
  const std::vector<CellCost> done = {{{0.1, 20}, 1000, 2}, {{0.2, 20}, 1000, 1}};
  EXPECT_EQ(plan_budget(done, 10, 221).seeds, 2);
}

TEST(Budget, WhatDoesNotFitIsLeftOutAndDoesNotSpoilTheRest) {
  const std::vector<CellCost> cells = {{{0.1, 20}, 1000, 0}, {{50, 3000}, 1000, 0}};
  const BudgetPlan plan = plan_budget(cells, 10, 70);
  EXPECT_EQ(plan.left_out, (std::vector<bool>{false, true}));
  EXPECT_NEAR(plan.share, 0.5, 0.02);
  EXPECT_LE(plan.seconds, 70);
  EXPECT_EQ(plan_budget(cells, 10, 1).left_out, (std::vector<bool>{true, true}));
  // What has all its epochs is not done again with fewer.
  const BudgetPlan rest = plan_budget({{{0.1, 20}, 1000, 1}, {{0.2, 20}, 1000, 0}}, 10, 121);
  EXPECT_EQ(rest.left_out, (std::vector<bool>{false, false}));
  EXPECT_NEAR(rest.share, 0.5, 0.02);
}

TEST(Budget, PreTrainingIsPaidOnce) {
  const std::vector<CellCost> transfer = {{{0.1, 20}, 100, 0, {1, 10}, 100}};  // 110 seconds before, 30 a seed
  EXPECT_EQ(plan_budget(transfer, 10, 175).seeds, 2);
  EXPECT_EQ(plan_budget(transfer, 10, 205).seeds, 3);
  const BudgetPlan cut = plan_budget(transfer, 10, 85);
  EXPECT_EQ(cut.seeds, 1);
  EXPECT_NEAR(cut.share, 0.5, 0.02);
}

TEST(Search, CandidatesAreDrawnOnceAndForAll) {
  EXPECT_TRUE(draw_candidate(1, 0, false).empty());  // the recipe itself
  const SettingList one = draw_candidate(1, 1, false);
  EXPECT_EQ(draw_candidate(1, 1, false), one);
  EXPECT_NE(draw_candidate(1, 2, false), one);
  EXPECT_NE(draw_candidate(2, 1, false), one);
  std::vector<std::string> keys;
  for (const auto& [key, value] : one) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"mask_ratio", "alpha", "gamma", "eigenvectors", "dropout", "lr"}));
  // All of them are settings a run accepts.
  for (int64_t number = 0; number < 50; ++number) {
    EXPECT_NO_THROW(resolved_settings("chameleon", draw_candidate(1, number, false), false));
    EXPECT_NO_THROW(resolved_settings("molbace", draw_candidate(1, number, true), false));
  }
}

TEST(Search, RoundsShrinkAndGrowLonger) {
  const auto rungs = halving_rungs(20, 900);
  ASSERT_EQ(rungs.size(), 3u);
  EXPECT_EQ(rungs[0].candidates, 20);
  EXPECT_EQ(rungs[0].epochs, 100);
  EXPECT_EQ(rungs[1].candidates, 7);
  EXPECT_EQ(rungs[1].epochs, 300);
  EXPECT_EQ(rungs[2].candidates, 3);
  EXPECT_EQ(rungs[2].epochs, 900);
  EXPECT_EQ(halving_rungs(5, 1).size(), 1u);
  EXPECT_EQ(halving_rungs(5, 1)[0].candidates, 5);
  EXPECT_DOUBLE_EQ(search_seconds(rungs, {0.1, 5}), 20 * 15 + 7 * 35 + 3 * 95);
}

TEST(Search, AsManyCandidatesAsFit) {
  const JobCost cost{0.1, 5};
  const double seconds = search_seconds(halving_rungs(20, 900), cost);
  EXPECT_EQ(plan_candidates(cost, 900, seconds), 20);
  EXPECT_EQ(plan_candidates(cost, 900, seconds - 1), 19);
  EXPECT_EQ(plan_candidates(cost, 900, 0), 3);
  EXPECT_EQ(plan_candidates({1e-9, 0}, 900, 1e9), 300);
}

TEST(Search, TheBestAreKeptAndFailuresNever) {
  const std::vector<TuneCandidate> scores = {{0, {}, 0.5}, {1, {}, 0.7}, {2, {}, {}}, {3, {}, 0.5}, {4, {}, 0.6}};
  EXPECT_EQ(best_candidates(scores, 2, false), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(best_candidates(scores, 2, true), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(best_candidates(scores, 9, false), (std::vector<int64_t>{1, 4, 0, 3}));
  EXPECT_TRUE(best_candidates({{0, {}, {}}}, 1, false).empty());
}

}  // namespace
}  // namespace graphpae
