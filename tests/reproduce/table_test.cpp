#include <gtest/gtest.h>

#include "graphpae/reproduce/summary.h"
#include "tests/reproduce/sample_records.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

using test::sample_record;

Experiment two_variants() {
  return parse_experiment(R"(
title: A table
paper: Table 9
seeds: 2
reference: full
rows:
  - {name: One, data: [one, uno], recipe: chameleon}
  - {name: Gone, data: gone, recipe: chameleon}
variants:
  - {name: full, published: {One: [70.0, 1.50]}}
  - {name: bare, note: without them, set: {use_positions: no}}
)",
                          "t", "t.yaml");
}

SummaryOptions options_for(const Experiment& e, int64_t seeds) {
  SummaryOptions options;
  options.seeds = seeds;
  options.job_of = [e](size_t row, size_t variant, int64_t seed) {
    return make_job(e, row, variant, seed, {}, {e.rows[row].data.front(), "", ""}, {});
  };
  options.row_state = [](size_t row) { return std::string(row == 1 ? "not here: looked for d/gone" : ""); };
  return options;
}

// Two seeds of both variants on two splits; the second variant is better by 0.1 and 0.3.
std::vector<Record> some_records() {
  const SettingList bare = {{"use_positions", "no"}};
  std::vector<Record> records = {sample_record("one", 0, {{0.5}, {0.6}}), sample_record("one", 1, {{0.7}, {0.6}}),
                                 sample_record("one", 0, {{0.6}, {0.9}}, bare),
                                 sample_record("one", 1, {{0.8}, {0.9}}, bare)};
  records[0].protocols["paper"].scores = {{0.7}, {0.7}};
  records[0].protocols["strict"].baselines["untrained"] = {0.25, 0.01};
  records[1].seconds = 240;
  records[1].commit = "def5678";
  return records;
}

TEST(Summary, MeansAreOverSplitsAndSeeds) {
  const Experiment e = two_variants();
  const Summary summary = summarise(e, some_records(), options_for(e, 2));
  ASSERT_EQ(summary.lines.size(), 4u);
  const SummaryLine& full = summary.lines[0];
  EXPECT_EQ(full.seeds, 2);
  EXPECT_EQ(full.protocols.at("strict").count, 4);
  EXPECT_NEAR(full.protocols.at("strict").mean, 0.6, 1e-12);
  EXPECT_NEAR(full.protocols.at("strict").deviation, 0.0816497, 1e-6);
  EXPECT_NEAR(full.protocols.at("paper").mean, 0.7, 1e-12);
  EXPECT_DOUBLE_EQ(full.seconds, 180);  // the median
  EXPECT_DOUBLE_EQ(full.published->mean, 70);
  EXPECT_EQ(full.epochs, 1000);
  EXPECT_EQ(summary.lines[2].state, "not here: looked for d/gone");
  EXPECT_EQ(summary.commits, (std::vector<std::string>{"abc1234", "def5678"}));
  EXPECT_DOUBLE_EQ(summary.seconds, 600);
  EXPECT_EQ(summarise(e, some_records(), options_for(e, 1)).lines[0].seeds, 1);  // as asked for
}

TEST(Summary, ComparesSplitBySplit) {
  const Experiment e = two_variants();
  const Summary summary = summarise(e, some_records(), options_for(e, 2));
  EXPECT_TRUE(summary.lines[0].comparisons.empty());   // the reference
  ASSERT_EQ(summary.lines[1].comparisons.size(), 1u);  // paper was measured for one of them only
  const VariantComparison& c = summary.lines[1].comparisons[0];
  EXPECT_EQ(c.unit, "splits");
  EXPECT_EQ(c.pairs, 2);
  EXPECT_EQ(c.better, 2);
  EXPECT_NEAR(c.difference.mean, 0.2, 1e-12);
  EXPECT_NEAR(*c.t_test, 0.295167, 1e-6);  // t = 2, one degree
  EXPECT_NEAR(*c.sign_test, 0.5, 1e-12);
}

// With one split pairs are seeds, with one seed the probes; errors are better when they are smaller.
TEST(Summary, PairsAreSeedsIfThereIsOneSplit) {
  const Experiment e = two_variants();
  const SettingList bare = {{"use_positions", "no"}};
  std::vector<Record> records = {sample_record("one", 0, {{2.0, 2.25}}), sample_record("one", 1, {{2.0, 2.0}}),
                                 sample_record("one", 0, {{1.0, 1.25}}, bare),
                                 sample_record("one", 1, {{1.5, 1.5}}, bare)};
  for (Record& record : records) record.metric = "rmse";
  const VariantComparison seeds = summarise(e, records, options_for(e, 2)).lines[1].comparisons.at(0);
  EXPECT_EQ(seeds.unit, "seeds");
  EXPECT_EQ(seeds.pairs, 2);
  EXPECT_EQ(seeds.better, 2);
  EXPECT_NEAR(seeds.difference.mean, -0.75, 1e-12);
  const VariantComparison probes = summarise(e, records, options_for(e, 1)).lines[1].comparisons.at(0);
  EXPECT_EQ(probes.unit, "probes");
  EXPECT_EQ(probes.pairs, 2);
  EXPECT_FALSE(probes.t_test);  // no spread
}

TEST(Summary, ComparesRunsOfAnotherKindWhateverTheirEpochs) {
  const Experiment e = parse_experiment(R"(
title: A table
reference: full
rows:
  - {name: One, data: one, recipe: chameleon}
variants:
  - {name: full}
  - {name: labels, method: supervised, set: {epochs: 50}}
  - {name: short, set: {epochs: 50}}
)",
                                        "t", "t.yaml");
  std::vector<Record> records = {sample_record("one", 0, {{0.5}}), sample_record("one", 0, {{0.75}}),
                                 sample_record("one", 0, {{0.4}}, {{"epochs", "50"}})};
  records[1].identity.verb = "supervised";
  records[1].identity.settings = resolved_settings("chameleon", {{"epochs", "50"}, {"seed", "0"}}, true);
  const Summary summary = summarise(e, records, options_for(e, 1));
  ASSERT_EQ(summary.lines[1].comparisons.size(), 1u);
  EXPECT_NEAR(summary.lines[1].comparisons[0].difference.mean, 0.25, 1e-12);
  EXPECT_EQ(summary.lines[2].seeds, 1);
  EXPECT_TRUE(summary.lines[2].comparisons.empty());  // of the same kind, after fewer epochs
}

TEST(Summary, ComparesTargetsSeedBySeed) {
  const Experiment e = parse_experiment(
      "reference: full\nrows:\n  - {name: Q, data: one, recipe: chameleon, targets: [mu, gap]}\n"
      "variants:\n  - {name: full}\n  - {name: bare, set: {use_positions: no}}\n",
      "t", "t.yaml");
  std::vector<Record> records;
  for (const int64_t seed : {0, 1}) {
    for (const double worse : {0.0, 1.0}) {
      const SettingList set = worse > 0 ? SettingList{{"use_positions", "no"}} : SettingList{};
      records.push_back(sample_record("one", seed, {{0.5}}, set));
      records.back().metric = "mae";
      const double slope = static_cast<double>(1 + seed);
      records.back().protocols["strict"].targets = {{"mu", 1 + worse * slope}, {"gap", 2 - worse * slope}};
    }
  }
  const Summary summary = summarise(e, records, options_for(e, 2));
  ASSERT_EQ(summary.lines.size(), 4u);
  for (const size_t bare : {1, 3}) {
    ASSERT_EQ(summary.lines[bare].comparisons.size(), 1u);
    const VariantComparison& c = summary.lines[bare].comparisons[0];
    EXPECT_EQ(c.unit, "seeds");
    EXPECT_EQ(c.pairs, 2);
    EXPECT_NEAR(c.difference.mean, bare == 1 ? 1.5 : -1.5, 1e-12);
    EXPECT_EQ(c.better, bare == 1 ? 0 : 2);  // errors: smaller is better
  }
}

TEST(Summary, TakesTheMostEpochsIfAsked) {
  const Experiment e = two_variants();
  std::vector<Record> records = {sample_record("one", 0, {{0.5}}, {{"epochs", "10"}}),
                                 sample_record("one", 0, {{0.6}}, {{"epochs", "20"}})};
  SummaryOptions options = options_for(e, 2);
  EXPECT_TRUE(summarise(e, records, options).lines[0].protocols.empty());
  options.any_epochs = true;
  const SummaryLine line = summarise(e, records, options).lines[0];
  EXPECT_EQ(line.epochs, 20);
  EXPECT_EQ(line.recipe_epochs, 1000);
  EXPECT_NEAR(line.protocols.at("strict").mean, 0.6, 1e-12);
}

TEST(Summary, DoesNotMixDataThatDiffer) {
  const Experiment e = two_variants();
  std::vector<Record> records = {sample_record("one", 0, {{0.5}}), sample_record("one", 1, {{0.7}})};
  records[1].identity.data_hash = "other";
  EXPECT_EQ(summarise(e, records, options_for(e, 2)).lines[0].seeds, 1);
}

TEST(Table, ShowsOursBesideTheirs) {
  const Experiment e = two_variants();
  const Summary summary = summarise(e, some_records(), options_for(e, 2));
  const Grid grid = score_grid(summary);
  ASSERT_EQ(grid.rows.size(), 4u);  // two lines, a baseline, and one line for data that are not here
  EXPECT_EQ(grid.rows[0], (std::vector<std::string>{"One", "full", "60.00 ± 8.16", "70.00", "70.0 ± 1.50", "0.0", "2",
                                                    "1000", "3 min", "0.50 GB"}));
  EXPECT_EQ(grid.rows[1][1], "- untrained encoder");
  EXPECT_EQ(grid.rows[1][2], "25.00 ± 1.00");
  EXPECT_EQ(grid.rows[3][1], "not here: looked for d/gone");
  const std::string text = summary_text(summary);
  EXPECT_NE(text.find("A table (Table 9 of the paper)"), std::string::npos);
  EXPECT_NE(text.find("INFLATED"), std::string::npos);
  EXPECT_NE(text.find("bare: without them."), std::string::npos);
  EXPECT_NE(text.find("Commits abc1234, def5678; some processor, 2 threads; 2025-01-01"), std::string::npos);
  // Columns stand under each other, whatever bytes ± takes.
  const std::string aligned = grid_text({{"a", "b"}, {{"±±", "x"}, {"yy", "z"}}});
  EXPECT_EQ(aligned, "a   b\n±±  x\nyy  z\n");
}

TEST(Table, MarkdownCsvAndHtmlHoldTheSame) {
  const Experiment e = two_variants();
  const Summary summary = summarise(e, some_records(), options_for(e, 2));
  const std::string markdown = summary_markdown(summary);
  EXPECT_NE(markdown.find("| One | full | 60.00 ± 8.16 |"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| One | bare | strict | +20.00 |"), std::string::npos) << markdown;
  EXPECT_EQ(grid_markdown({{"a|b"}, {}}), "| a\\|b |\n|---|\n");
  const std::string csv = summary_csv(summary);
  EXPECT_NE(csv.find("t,One,one,full,,accuracy,strict,60"), std::string::npos) << csv;
  const size_t commas =
      static_cast<size_t>(std::count(csv.begin(), csv.begin() + static_cast<int64_t>(csv.find('\n')), ','));
  for (size_t at = 0; at < csv.size();) {
    const size_t end = csv.find('\n', at);
    EXPECT_EQ(static_cast<size_t>(
                  std::count(csv.begin() + static_cast<int64_t>(at), csv.begin() + static_cast<int64_t>(end), ',')),
              commas)
        << csv.substr(at, end - at);
    at = end + 1;
  }
  const std::string html = summary_html({summary}, "title");
  EXPECT_NE(html.find("60.00 ± 8.16"), std::string::npos);
}

TEST(Table, SweepsAreDrawn) {
  const Experiment e = parse_experiment(
      "rows: [{data: one, recipe: chameleon}]\nsweep: {setting: alpha, values: [0.5, 0.25]}", "s", "s.yaml");
  const std::vector<Record> records = {sample_record("one", 0, {{0.5}}, {{"alpha", "0.5"}})};
  const std::string html = summary_html({summarise(e, records, options_for(e, 1))}, "title");
  EXPECT_NE(html.find("\"label\":\"strict\",\"data\":[50,null],\"spread\":["), std::string::npos);
  // Nothing was published, so there are no columns for it.
  const Grid grid = score_grid(summarise(e, records, options_for(e, 1)));
  EXPECT_EQ(grid.head,
            (std::vector<std::string>{"data", "variant", "strict", "paper", "seeds", "epochs", "a run", "memory"}));
  EXPECT_EQ(grid.rows[0],
            (std::vector<std::string>{"one", "alpha=0.5", "50.00", "", "1 of 10", "1000", "2 min", "0.50 GB"}));
}

TEST(Table, FillsMarksOfADocument) {
  const Experiment e = two_variants();
  const Summary summary = summarise(e, some_records(), options_for(e, 2));
  const std::string filled = fill_marks(
      "Before.\n<!-- table: t -->\nold\n<!-- end -->\nAfter.\n<!-- table: other -->\nkept\n<!-- end -->\n", {summary});
  EXPECT_EQ(filled, "Before.\n<!-- table: t -->\n" + summary_markdown(summary) +
                        "<!-- end -->\nAfter.\n<!-- table: other -->\nkept\n<!-- end -->\n");
  EXPECT_EQ(fill_marks(filled, {summary}), filled);
  // Lines without scores are left out.
  const Summary nothing = summarise(e, {}, options_for(e, 2));
  EXPECT_EQ(fill_marks(filled, {nothing}),
            "Before.\n<!-- table: t -->\nNothing is measured yet.\n<!-- end -->\nAfter.\n<!-- table: other -->\nkept\n"
            "<!-- end -->\n");
  EXPECT_DATA_ERROR(fill_marks("<!-- table: t -->\nno end\n", {summary}), "has no '<!-- end -->'");
  EXPECT_DATA_ERROR(fill_marks("<!-- table: t -->\n<!-- table: u -->\n<!-- end -->\n", {summary}),
                    "has no '<!-- end -->'");
}

}  // namespace
}  // namespace graphpae
