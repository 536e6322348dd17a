// Ids of nodes, and files of features, labels and splits beside edges.
#include "graphpae/data/node_files.h"

#include <gtest/gtest.h>

#include "graphpae/data/directory_form.h"
#include "graphpae/data/load.h"
#include "graphpae/io/npy.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (int64_t node = 0; node < graph.num_nodes(); ++node) names.push_back(graph.node_name(node));
  return names;
}

Dataset load_with(const TempDir& dir, const std::string& edges, const std::string& features,
                  const std::string& labels = "", LoadOptions options = {}) {
  if (!features.empty()) options.features = dir.write("x.csv", features);
  if (!labels.empty()) options.labels = dir.write("y.csv", labels);
  return load(dir.write("e.csv", edges), options);
}

TEST(NodeIds, ScatteredNumbersAreNames) {
  const TempDir dir;
  const Dataset data = load_with(dir, "citing,cited\n35,1033\n1033,887\n103482,35\n", "");
  EXPECT_EQ(names_of(data.graph()), (std::vector<std::string>{"35", "887", "1033", "103482"}));
  EXPECT_EQ(data.graph().adjacency().num_edges(), 3);
  EXPECT_NE(data.notes[0].find("they are names"), std::string::npos);
  LoadOptions numbers;
  numbers.ids = NodeIds::numbers;
  EXPECT_EQ(load_with(dir, "0,1\n1,9\n", "", "", numbers).graph().num_nodes(), 10);
}

TEST(NodeIds, PlacesFromOneMakeNoNodeZero) {
  const TempDir dir;
  EXPECT_EQ(names_of(load_with(dir, "1,2\n2,3\n3,1\n", "").graph()), (std::vector<std::string>{"1", "2", "3"}));
  // As many rows as the largest id.
  const Dataset rows = load_with(dir, "1,2\n2,3\n", "f\n5\n6\n7\n");
  EXPECT_EQ(names_of(rows.graph()), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(rows.graph().features().dense_row(0)[0], 5.0f);
  // One row more: a node 0 without edges, which is said.
  const Dataset more = load_with(dir, "1,2\n2,3\n", "f\n5\n6\n7\n8\n");
  EXPECT_EQ(more.graph().num_nodes(), 4);
  EXPECT_NE(more.notes.at(0).find("--base 1"), std::string::npos);
  LoadOptions base;
  base.base = 1;
  EXPECT_EQ(load_with(dir, "1,2\n2,3\n", "f\n5\n6\n7\n8\n", "", base).graph().node_name(3), "4");
  EXPECT_DATA_ERROR(load_with(dir, "0,2\n2,3\n", "", "", base), "node 0 contradicts --base 1");
  base.base = 0;
  EXPECT_EQ(load_with(dir, "1,2\n2,3\n", "", "", base).graph().num_nodes(), 4);
  EXPECT_EQ(load_with(dir, "# Nodes: 4 Edges: 2\n1,2\n2,4\n", "").graph().node_name(0), "1");
  EXPECT_EQ(load_with(dir, "# Nodes: 6 Edges: 2\n0,1\n1,2\n", "").graph().num_nodes(), 6);
  // Rows that name nodes say the same.
  const Dataset keyed = load_with(dir, "1,2\n2,3\n", "id,f\n4,8\n2,6\n1,5\n3,7\n");
  EXPECT_EQ(names_of(keyed.graph()), (std::vector<std::string>{"1", "2", "3", "4"}));
  EXPECT_EQ(keyed.graph().features().dense_row(3)[0], 8.0f);
}

TEST(NodeIds, MatrixMarketCountsFromOneAndHasWeights) {
  const TempDir dir;
  const Dataset data =
      load(dir.write("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 2 4\n"));
  EXPECT_EQ(data.graph().num_nodes(), 3);
  EXPECT_EQ(data.graph().adjacency().row_weights(1)[1], 4.0f);
}

TEST(NodeFiles, FeatureRowsMayIntroduceNodes) {
  const TempDir dir;
  const std::string edges = "alice,bob\nbob,carol\n", features = "id,f\ndave,4\nalice,1\nbob,2\ncarol,3\n";
  const Dataset data = load_with(dir, edges, features, "who,group\ndave,red\nalice,blue\n");
  EXPECT_EQ(names_of(data.graph()), (std::vector<std::string>{"alice", "bob", "carol", "dave"}));
  EXPECT_EQ(data.graph().features().dense_row(3)[0], 4.0f);
  EXPECT_EQ(data.graph().labels(), (std::vector<int32_t>{0, -1, -1, 1}));
  EXPECT_DATA_ERROR(load_with(dir, edges, features, "who,group\nerin,red\nalice,blue\n"), "no row for node erin");
}

TEST(NodeFiles, LabelsMayIntroduceNodes) {
  const TempDir dir;
  const Dataset data = load_with(dir, "alice,bob\nbob,carol\n", "", "who,group\nerin,red\nalice,blue\n");
  EXPECT_EQ(names_of(data.graph()), (std::vector<std::string>{"alice", "bob", "carol", "erin"}));
  EXPECT_EQ(data.graph().labels(), (std::vector<int32_t>{0, -1, -1, 1}));
  EXPECT_EQ(data.graph().adjacency().degree(3), 0);
  EXPECT_EQ(data.notes.at(0), "y.csv: 1 of its 2 nodes have no edges: erin");
  EXPECT_DATA_ERROR(load_with(dir, "alice,bob\n", "", "id,label\nAlice,1\nBob,0\n"), "there is no node 'Alice'");
}

TEST(NodeFiles, MissingRowsNameTheUsersId) {
  const TempDir dir;
  EXPECT_DATA_ERROR(load_with(dir, "alice,bob\nbob,carol\n", "id,f\nalice,1\nbob,2\n"), "no row for node carol");
  EXPECT_DATA_ERROR(load_with(dir, "615,7000\n7000,90000\n", "id,f\n7000,1\n90000,2\n"), "no row for node 615");
}

TEST(NodeFiles, FindsTheColumnOfNodes) {
  const TempDir dir;
  const std::string edges = "alice,bob\nbob,carol\n";
  const auto first = [&](const std::string& features, LoadOptions options = {}) {
    const Dataset data = load_with(dir, edges, features, "", options);
    EXPECT_EQ(data.graph().num_nodes(), 3);
    return data.graph().features().dense_row(0)[0];
  };
  EXPECT_EQ(first("bob,2\nalice,1\ncarol,3\n"), 1.0f);
  EXPECT_EQ(first(",f\nbob,2\nalice,1\ncarol,3\n"), 1.0f);
  EXPECT_EQ(first("person_id,f\nbob,2\nalice,1\ncarol,3\n"), 1.0f);
  EXPECT_EQ(first("f,node\n2,bob\n1,alice\n3,carol\n"), 1.0f);
  LoadOptions options;
  options.id_column = "who";
  EXPECT_EQ(first("f,who\n2,bob\n1,alice\n3,carol\n", options), 1.0f);
  options.id_column = "whom";
  EXPECT_USAGE_ERROR(first("f,who\n2,bob\n1,alice\n3,carol\n", options), "did you mean 'who'?");
}

TEST(NodeFiles, MissingLabelsInAnyWriting) {
  const TempDir dir;
  const Dataset data =
      load_with(dir, "0,1\n1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n", "", "label\ncat\nNone\nNaN\nna\n?\n\nnull\ndog\n");
  EXPECT_EQ(data.graph().labels(), (std::vector<int32_t>{0, -1, -1, -1, -1, -1, -1, 1}));
  EXPECT_EQ(data.graph().class_names(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(load_with(dir, "0,1\n1,2\n", "", "node,label\n0,1\n1,none\n2,0\n").graph().labels(),
            (std::vector<int32_t>{1, -1, 0}));
  EXPECT_EQ(load_with(dir, "0,1\n1,2\n", "", "paper,year,label\n0,2001,1\n1,2002,0\n2,2003,0\n").graph().labels(),
            (std::vector<int32_t>{1, 0, 0}));
}

TEST(NodeFiles, NamesOfColumnsAreKept) {
  const TempDir dir;
  const Dataset data = load_with(dir, "0,1\n1,2\n", "id,height,weight\n0,1,2\n1,3,4\n2,5,6\n");
  EXPECT_EQ(data.graph().feature_names(), (std::vector<std::string>{"height", "weight"}));
  write_directory(dir / "out", data.graph(), false);
  EXPECT_EQ(load(dir / "out").graph().feature_names(), data.graph().feature_names());
}

TEST(NodeFiles, DirectoryFormKeepsWeightsAndDirections) {
  const TempDir dir;
  LoadOptions options;
  options.directed = true;
  const Dataset data = load(dir.write("e.csv", "source,target,weight\n0,1,0.1\n1,0,3\n2,1,7\n"), options);
  write_directory(dir / "out", data.graph(), false);
  const Dataset again = load(dir / "out");
  EXPECT_TRUE(again.graph().is_directed());
  EXPECT_EQ(again.graph().directed_edges().weights()[0], 0.1f);
  EXPECT_EQ(again.graph().adjacency().row_weights(1)[0], data.graph().adjacency().row_weights(1)[0]);
}

TEST(NodeFiles, SplitsOfATable) {
  const TempDir dir;
  const auto splits = [&](const std::string& edges, const std::string& table) {
    LoadOptions options;
    options.splits = dir.write("s.csv", table);
    return load(dir.write("e.csv", edges), options).graph().splits();
  };
  EXPECT_EQ(splits("0,1\n1,2\n2,3\n", "node,split\n3,test\n0,train\n1,Valid\n2,\n"),
            (std::vector<Split>{{{0}, {1}, {3}}}));
  EXPECT_EQ(splits("0,1\n1,2\n", "split\ntrain\nval\ntest\n"), (std::vector<Split>{{{0}, {1}, {2}}}));
  EXPECT_EQ(splits("ann,bob\nbob,cy\n", "node,a,b\ncy,test,train\nann,train,val\nbob,val,test\n"),
            (std::vector<Split>{{{0}, {1}, {2}}, {{2}, {0}, {1}}}));
  EXPECT_DATA_ERROR(splits("0,1\n1,2\n", "node,split\n0,train\n1,holdout\n"), "s.csv:3: column 'split': 'holdout'");
  EXPECT_DATA_ERROR(splits("0,1\n1,2\n", "node,split\n0,train\n7,test\n"), "s.csv:3: there is no node '7'");
  EXPECT_DATA_ERROR(splits("0,1\n1,2\n", "node,split\n0,train\n0,test\n"), "s.csv:3: a second row for node '0'");
  EXPECT_DATA_ERROR(splits("0,1\n1,2\n", "split\ntrain\nval\n"), "s.csv: 2 rows for 3 nodes");
}

}  // namespace
}  // namespace graphpae
