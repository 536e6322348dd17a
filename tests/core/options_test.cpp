#include "graphpae/core/options.h"

#include <gtest/gtest.h>

#include "graphpae/core/suggest.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/finetune_settings.h"
#include "graphpae/settings/recipes.h"
#include "graphpae/settings/settings.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

struct Sample {
  bool flag = false;
  int64_t count = 3;
  double ratio = 0.25;
  std::string name = "x";
  std::vector<int64_t> fanout = {20, 10};
  Pooling pooling = Pooling::sum;
};

struct OptionsTest : testing::Test {
  Sample sample;
  OptionTable table;
  OptionsTest() {
    table.add("flag", sample.flag, "a flag");
    table.add("count", sample.count, between(1, 10), "a count");
    table.add("ratio", sample.ratio, below(0, 1), "a ratio");
    table.add("name", sample.name, "a name");
    table.add("fanout", sample.fanout, at_least(1), "a list");
    table.add_choice("pooling", sample.pooling, {{"mean", Pooling::mean}, {"sum", Pooling::sum}}, "a choice");
  }
};

TEST_F(OptionsTest, SetsEveryKind) {
  table.set("flag", "true");
  table.set("count", "10");
  table.set("ratio", "1e-3");
  table.set("name", "hello");
  table.set("fanout", "5,4,3");
  table.set("pooling", "mean");
  EXPECT_TRUE(sample.flag);
  EXPECT_EQ(sample.count, 10);
  EXPECT_EQ(sample.ratio, 1e-3);
  EXPECT_EQ(sample.name, "hello");
  EXPECT_EQ(sample.fanout, (std::vector<int64_t>{5, 4, 3}));
  EXPECT_EQ(sample.pooling, Pooling::mean);
  table.set("fanout", "");
  EXPECT_TRUE(sample.fanout.empty());
}

TEST_F(OptionsTest, RefusesWhatDoesNotFitAndChangesNothing) {
  EXPECT_USAGE_ERROR(table.set("count", "0"), "count: 0 is out of range (expected integer, range 1 <= x <= 10)");
  EXPECT_USAGE_ERROR(table.set("count", "2.5"), "'2.5' is not an integer");
  EXPECT_USAGE_ERROR(table.set("count", "99999999999999999999"), "is not an integer");
  EXPECT_USAGE_ERROR(table.set("ratio", "1"), "out of range");
  EXPECT_USAGE_ERROR(table.set("ratio", "nan"), "out of range");
  EXPECT_USAGE_ERROR(table.set("ratio", ""), "is not a number");
  EXPECT_USAGE_ERROR(table.set("flag", "maybe"), "'maybe' is not one of");
  EXPECT_USAGE_ERROR(table.set("pooling", "summ"), "did you mean 'sum'?");
  EXPECT_USAGE_ERROR(table.set("fanout", "5,x"), "list of integers");
  EXPECT_USAGE_ERROR(table.set("rtio", "0.5"), "unknown setting 'rtio' (did you mean 'ratio'?)");
  EXPECT_EQ(sample.count, 3);
  EXPECT_EQ(sample.fanout.size(), 2u);
}

TEST_F(OptionsTest, YamlRoundTrip) {
  table.set("ratio", "0.125");
  table.set("fanout", "7");
  const std::string yaml = to_yaml(table);
  Sample other;
  OptionTable copy;
  copy.add("flag", other.flag, "");
  copy.add("count", other.count, at_least(0), "");
  copy.add("ratio", other.ratio, at_least(0), "");
  copy.add("name", other.name, "");
  copy.add("fanout", other.fanout, at_least(0), "");
  copy.add_choice("pooling", other.pooling, {{"mean", Pooling::mean}, {"sum", Pooling::sum}}, "");
  set_from_yaml(copy, yaml, "saved.yaml");
  EXPECT_EQ(to_yaml(copy), yaml);
  EXPECT_EQ(other.ratio, 0.125);
}

TEST_F(OptionsTest, YamlErrorsNameTheFile) {
  EXPECT_USAGE_ERROR(set_from_yaml(table, "count: 99", "a.yaml"), "a.yaml: count: 99 is out of range");
  EXPECT_USAGE_ERROR(set_from_yaml(table, "cuont: 9", "a.yaml"), "did you mean 'count'?");
  EXPECT_USAGE_ERROR(set_from_yaml(table, "a: [1", "a.yaml"), "a.yaml:");
  EXPECT_USAGE_ERROR(set_from_yaml(table, "just text", "a.yaml"), "key: value");
  EXPECT_NO_THROW(set_from_yaml(table, "", "a.yaml"));
}

TEST(Suggest, FindsTheNearestName) {
  const std::vector<std::string> names = {"mask_ratio", "replace_ratio", "noise"};
  EXPECT_EQ(did_you_mean("maskratio", names), " (did you mean 'mask_ratio'?)");
  EXPECT_EQ(did_you_mean("Noise", names), " (did you mean 'noise'?)");
  EXPECT_EQ(did_you_mean("zzzzzzzz", names), "");
}

TEST(Recipes, EveryOneFitsTheSettings) {
  ASSERT_GE(recipes().size(), 14u);
  for (const Recipe& recipe : recipes()) {
    Settings settings;
    EXPECT_NO_THROW(settings = settings_from_yaml(recipe.yaml, recipe.name)) << recipe.name;
    EXPECT_EQ(settings.width % settings.heads, 0) << recipe.name;
    EXPECT_FALSE(recipe.title.empty());
  }
}

TEST(Recipes, HoldThePublishedConstants) {
  Settings settings;
  OptionTable table;
  declare(table, settings);
  set_from_yaml(table, find_recipe("squirrel").yaml, "squirrel");
  EXPECT_EQ(settings.layers, 2);
  EXPECT_EQ(settings.mask_ratio, 0.5);
  EXPECT_EQ(settings.alpha, 0.001);
  EXPECT_EQ(settings.gamma, 1);
  EXPECT_EQ(settings.dropout, 0.6);
  EXPECT_TRUE(settings.row_normalize);
  set_from_yaml(table, find_recipe("arxiv-year").yaml, "arxiv-year");
  EXPECT_EQ(settings.fanout, (std::vector<int64_t>{20, 10, 5}));
  EXPECT_EQ(settings.batch_size, 1024);
  settings = recipe_settings("qm9");
  EXPECT_EQ(settings.batch_size, 256);
  EXPECT_EQ(settings.warmup, 5);
  EXPECT_EQ(settings.dropout, 0.1);
  EXPECT_EQ(finetune_settings_from_yaml(find_recipe("qm9").yaml, "qm9").loss, TargetLoss::l1);
  for (const char* name : {"zinc", "qm9"})
    EXPECT_EQ(all_settings_from_yaml(find_recipe(name).yaml, name).reading.featurizer, Featurizer::transfer) << name;
  EXPECT_EQ(all_settings_from_yaml(find_recipe("molbace").yaml, "molbace").reading.featurizer, std::nullopt);
  EXPECT_USAGE_ERROR(find_recipe("squirel"), "did you mean 'squirrel'?");
}

}  // namespace
}  // namespace graphpae
