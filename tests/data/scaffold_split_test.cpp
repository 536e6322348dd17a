#include "graphpae/data/scaffold_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "graphpae/data/chemistry.h"
#include "graphpae/data/load.h"
#include "graphpae/data/molecules.h"
#include "tests/support/expect_error.h"
#include "tests/support/molecules.h"

namespace graphpae {
namespace {

using Scaffolds = std::vector<std::optional<std::string>>;

Scaffolds scaffolds_of(const std::vector<std::string>& texts, int threads = 1) {
  TextColumn column;
  for (const std::string& text : texts) column.push_back(text);
  return murcko_scaffolds(column, Threads{threads});
}

// One letter per molecule; '-' is a row without a scaffold.
Split split_of(const std::string& letters) {
  Scaffolds scaffolds;
  for (const char letter : letters)
    scaffolds.push_back(letter == '-' ? std::nullopt : std::optional(std::string(1, letter)));
  return scaffold_split(scaffolds);
}

TEST(MurckoScaffolds, KeepRingsAndWhatJoinsThem) {
  EXPECT_EQ(scaffolds_of({"CCO", "Cc1ccccc1", "CC(C)CCc1ccc(Cl)cc1", "c1ccccc1CCc1ccccc1O", "[Na+].[Cl-]", "*", "CC("}),
            (Scaffolds{"", "c1ccccc1", "c1ccccc1", "c1ccc(CCc2ccccc2)cc1", "", "", std::nullopt}));
  EXPECT_EQ(scaffolds_of({"O=C1CCCC1", "C=C1CCCC1"}), (Scaffolds{"O=C1CCCC1", "C=C1CCCC1"}))
      << "atoms on double bonds of a ring stay";
}

TEST(MurckoScaffolds, CarryChirality) {
  const Scaffolds found = scaffolds_of({"O[C@H]1CCC[C@@H](c2ccccc2)C1", "C1CCC[C@@H](c2ccccc2)N1",
                                        "C1CCC[C@H](c2ccccc2)N1", "C1CCCC(c2ccccc2)N1", "CN1CCCC[C@@H]1c2ccccc2C"});
  EXPECT_NE(found[1], found[2]) << "mirror images";
  EXPECT_NE(found[1], found[3]);
  EXPECT_EQ(found[3], "c1ccc(C2CCCCN2)cc1");
  EXPECT_TRUE(found[4] == found[1] || found[4] == found[2]) << *found[4];
  EXPECT_EQ(found[0]->find('@'), std::string::npos) << "no centre any more without the hydroxyl group";
}

TEST(MurckoScaffolds, AnyNumberOfThreadsGivesTheSame) {
  const std::vector<std::string> kinds = {"CCO", "Cc1ccccc1", "CC(", "C1CCC[C@@H](c2ccccc2)N1", "c1ccccc1CCc1ccccc1O"};
  std::vector<std::string> texts, named;
  for (int i = 0; i < 700; ++i) {
    texts.push_back(kinds[(i * i + i / 3) % kinds.size()]);
    named.push_back(texts.back() + " name");  // takes all of RDKit's stereo perception
  }
  const Scaffolds one = scaffolds_of(texts);
  EXPECT_EQ(one, scaffolds_of(texts, 2));
  EXPECT_EQ(one, scaffolds_of(texts, 8));
  EXPECT_EQ(one, scaffolds_of(named));
}

TEST(ScaffoldSplit, LargestFirstThenTheOneThatStartsLast) {
  // a: 4, b and c: 2 each, d and e: 1 each. Order: a, c, b, e, d.
  EXPECT_EQ(split_of("abbaacacde"), (Split{{0, 1, 2, 3, 4, 5, 6, 7}, {9}, {8}}));
  // Of four pairs, train takes the three that start last.
  EXPECT_EQ(split_of("aabbccdd"), (Split{{2, 3, 4, 5, 6, 7}, {}, {0, 1}}));
}

TEST(ScaffoldSplit, AGroupThatDoesNotFitIsPassedOn) {
  // a: 5 to train, b: 4 would make 9 of 8, but 9 of 9 with val; c: 1 still fits train.
  EXPECT_EQ(split_of("aaaaabbbbc"), (Split{{0, 1, 2, 3, 4, 9}, {5, 6, 7, 8}, {}}));
  // One group that exceeds all shares is the test set.
  EXPECT_EQ(split_of("aaaaaaaaaa"), (Split{{}, {}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}));
  EXPECT_EQ(split_of(""), Split{});
}

TEST(ScaffoldSplit, RowsWithoutAScaffoldAreInNoPart) {
  EXPECT_EQ(split_of("-abbaa-cacde-"), (Split{{1, 2, 3, 4, 5, 7, 8, 9}, {11}, {10}}));
}

TEST(ScaffoldSplit, OfASet) {
  GraphSetParts parts;
  parts.texts = test::column({"Cc1ccccc1", "Oc1ccccc1", "CC(", "CCO", "CC1CCCC1", "c1ccccc1", "Nc1ccccc1"});
  parts.num_graphs = 7;
  // Without 2, which is not a molecule: benzene 4, then those that start last: a ring of five, no ring.
  const Split expected{{0, 1, 5, 6}, {4}, {3}};
  EXPECT_EQ(scaffold_split(GraphSet(parts), Threads{2}), expected);
  EXPECT_EQ(scaffold_split(GraphSet(parts), Threads{1}), expected);
  // A row without atoms is in no part, whatever its text says.
  parts.node_offsets = {0, 7, 14, 14, 17, 17, 23, 30};
  parts.edge_offsets.assign(8, 0);
  EXPECT_EQ(scaffold_split(GraphSet(parts), Threads{1}), (Split{{0, 1, 5, 6}, {}, {3}}));
  parts.texts = {};
  EXPECT_DATA_ERROR(scaffold_split(GraphSet(parts), Threads{1}), "no SMILES, which a scaffold split needs");
}

// Real sets, if GRAPHPAE_TEST_DATA names their directory.
class BenchmarkScaffolds : public testing::TestWithParam<const char*> {};

TEST_P(BenchmarkScaffolds, GiveTheSplitOfTheSet) {
  const char* root = std::getenv("GRAPHPAE_TEST_DATA");
  const std::string path = root == nullptr ? "" : std::string(root) + "/" + GetParam();
  if (path.empty() || !std::filesystem::exists(path)) GTEST_SKIP() << "not there";
  LoadOptions options;
  options.threads = all_threads();
  const Dataset alone = load(path + "/molecules.csv.gz", options);
  const std::vector<Split> published = read_molecule_split(path + "/split");
  ASSERT_EQ(published.size(), 1u);
  EXPECT_TRUE(scaffold_split(alone.graph_set(), options.threads) == published[0]);
}

INSTANTIATE_TEST_SUITE_P(Sets, BenchmarkScaffolds,
                         testing::Values("molesol", "molfreesolv", "mollipo", "molbace", "moltox21", "qm9_subset"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace graphpae
