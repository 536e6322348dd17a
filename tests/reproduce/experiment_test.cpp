#include "graphpae/reproduce/experiment.h"

#include <gtest/gtest.h>

#include "graphpae/reproduce/job.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

const char* const kYaml = R"(
title: A table
paper: Table 9
seeds: 3
reference: full
rows:
  - {name: One, data: [one, uno], recipe: chameleon, set: {width: 64, probe: {lr: 0.5}}}
  - {data: two, recipe: molbace, metric: rocauc}
variants:
  - {name: full, baselines: true, published: {One: [80.5, 1.25], two: 7}}
  - {name: bare, set: {use_positions: no}}
  - {name: labels, method: supervised, by_default: no}
)";

TEST(Experiment, ReadsRowsVariantsAndPublishedNumbers) {
  const Experiment e = parse_experiment(kYaml, "mine", "mine.yaml");
  EXPECT_EQ(e.name, "mine");
  EXPECT_EQ(e.seeds, 3);
  ASSERT_EQ(e.rows.size(), 2u);
  EXPECT_EQ(e.rows[0].data, (std::vector<std::string>{"one", "uno"}));
  EXPECT_EQ(e.rows[0].set, (SettingList{{"width", "64"}, {"probe.lr", "0.5"}}));
  EXPECT_EQ(e.rows[1].name, "two");  // for want of another
  ASSERT_EQ(e.variants.size(), 3u);
  EXPECT_TRUE(e.variants[0].baselines);
  EXPECT_DOUBLE_EQ(e.variants[0].published.at("One").mean, 80.5);
  EXPECT_DOUBLE_EQ(*e.variants[0].published.at("One").deviation, 1.25);
  EXPECT_FALSE(e.variants[0].published.at("two").deviation);
  EXPECT_EQ(e.variants[1].set, (SettingList{{"use_positions", "no"}}));
  EXPECT_EQ(e.variants[2].measurement, Measurement::supervised);
}

TEST(Experiment, SweepsBecomeVariants) {
  const Experiment e = parse_experiment(
      "rows: [{data: x, recipe: chameleon}]\nsweep: {setting: alpha, values: [1e-4, 1]}", "s", "s.yaml");
  ASSERT_EQ(e.variants.size(), 2u);
  EXPECT_EQ(e.variants[0].name, "alpha=1e-4");
  EXPECT_DOUBLE_EQ(*e.variants[0].value, 1e-4);
  EXPECT_EQ(e.variants[1].set, (SettingList{{"alpha", "1"}}));
}

TEST(Experiment, ErrorsNameTheFileAndSuggest) {
  const auto parse = [](const std::string& yaml) { return parse_experiment(yaml, "e", "e.yaml"); };
  EXPECT_USAGE_ERROR(parse("rowz: []"), "e.yaml: experiment: unknown key 'rowz' (did you mean 'rows'?)");
  EXPECT_USAGE_ERROR(parse("rows: [{daat: x}]"), "row 1: unknown key 'daat' (did you mean 'data'?)");
  EXPECT_USAGE_ERROR(parse("rows: [{data: x, recipe: r}]\nvariants: [{nmae: y}]"),
                     "variant 1: unknown key 'nmae' (did you mean 'name'?)");
  EXPECT_USAGE_ERROR(parse("rows: [{data: x, recipe: r}]\nseeds: many"), "'seeds' has a value of the wrong kind");
  EXPECT_USAGE_ERROR(parse("rows: [{data: x, recipe: r}]\nseeds: 0"), "seeds: expected at least 1");
  EXPECT_USAGE_ERROR(parse("rows: []"), "there are no rows");
  EXPECT_USAGE_ERROR(parse("rows: [{name: a}]"), "row 1: has no data");
  EXPECT_USAGE_ERROR(parse("rows: [{data: a}]"), "row 1: has no recipe");
  EXPECT_USAGE_ERROR(parse("rows: [{data: x, recipe: r}, {data: x, recipe: r}]"), "row 'x' is there twice");
  EXPECT_USAGE_ERROR(parse("rows: [{data: xx, recipe: r}]\nvariants: [{name: y, published: {xxx: 1}}]"),
                     "published for 'xxx', which is no row (did you mean 'xx'?)");
  EXPECT_USAGE_ERROR(parse("rows: [{data: x, recipe: r}]\nvariants: [{name: full}]\nreference: ful"),
                     "reference 'ful' is no variant (did you mean 'full'?)");
  EXPECT_USAGE_ERROR(parse("rows: [{data: x, recipe: r}]\nvariants: [{name: y, method: prob}]"), "method 'prob'");
  EXPECT_USAGE_ERROR(parse("rows: [{data: x, recipe: r}]\nvariants: [{name: y, method: transfer}]"), "pretrain_data");
  EXPECT_USAGE_ERROR(parse("rows: [\n"), "e.yaml:");
}

TEST(Experiment, RestrictionsTakeAnyOfTheNames) {
  Experiment e = parse_experiment(kYaml, "mine", "mine.yaml");
  keep_rows(e, {"uno"});
  ASSERT_EQ(e.rows.size(), 1u);
  EXPECT_EQ(e.rows[0].name, "One");
  keep_variants(e, {});
  EXPECT_EQ(e.variants.size(), 2u);  // not the one that is not by default
  keep_variants(e, {"Bare"});
  ASSERT_EQ(e.variants.size(), 1u);
  EXPECT_EQ(e.variants[0].name, "bare");
  EXPECT_USAGE_ERROR(keep_rows(e, {"onne"}), "no data set 'onne' (did you mean 'one'?)");
  EXPECT_USAGE_ERROR(keep_variants(e, {"x"}), "no variant 'x'");
}

// Every cell of every experiment that is compiled in has recipe and settings that exist.
TEST(Experiment, ThoseOfThePaperResolve) {
  std::vector<std::string> names;
  for (const Experiment& e : experiments()) {
    names.push_back(e.name);
    if (e.spectrum) continue;
    for (size_t row = 0; row < e.rows.size(); ++row) {
      for (size_t variant = 0; variant < e.variants.size(); ++variant) {
        const Job job = make_job(e, row, variant, 3, {}, {e.rows[row].data.front(), "", ""}, {"zinc", "", ""});
        EXPECT_EQ(job.identity.seed(), 3);
        EXPECT_GE(job.identity.epochs(), 20) << e.name << " " << e.rows[row].name;
      }
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"table1", "figure1", "table2", "table3", "table4", "ablation",
                                             "ablation-pe", "alpha", "eigenvectors", "homophilic"}));
  EXPECT_USAGE_ERROR(find_experiment("tabel2"), "unknown experiment 'tabel2' (did you mean 'table2'?)");
}

// Spot checks against the printed tables.
TEST(Experiment, PublishedNumbersAreThePapers) {
  const Experiment nodes = find_experiment("table2"), molecules = find_experiment("table3");
  EXPECT_DOUBLE_EQ(nodes.variants[0].published.at("Chameleon").mean, 80.51);
  EXPECT_DOUBLE_EQ(*nodes.variants[0].published.at("Penn94").deviation, 0.37);
  EXPECT_DOUBLE_EQ(nodes.variants[1].published.at("Squirrel").mean, 61.13);
  EXPECT_DOUBLE_EQ(molecules.variants[0].published.at("molfreesolv").mean, 2.058);
  EXPECT_DOUBLE_EQ(find_experiment("ablation").variants[3].published.at("molbace").mean, 79.4);
  EXPECT_DOUBLE_EQ(find_experiment("table4").variants[0].published.at("r2").mean, 36.480);
}

TEST(Experiment, IsReadFromAFile) {
  const test::TempDir dir;
  const Experiment e = find_experiment(dir.write("mine.yaml", kYaml));
  EXPECT_EQ(e.name, "mine");
  EXPECT_EQ(e.rows.size(), 2u);
  EXPECT_DATA_ERROR(find_experiment(dir / "none.yaml"), "none.yaml");
}

}  // namespace
}  // namespace graphpae
