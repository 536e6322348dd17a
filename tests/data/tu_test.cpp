// TU directories: sets of graphs, one graph, and what is wrong with them; their way through our directory form.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "graphpae/data/directory_form.h"
#include "graphpae/data/load.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

// A path of three nodes and an edge, both directions listed.
void write_two(const TempDir& dir, const std::string& stem = "X") {
  dir.write(stem + "_A.txt", "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n");
  dir.write(stem + "_graph_indicator.txt", "1\n1\n1\n2\n2\n");
  dir.write(stem + "_graph_labels.txt", "1\n-1\n");
  dir.write(stem + "_node_labels.txt", "7\n3\n7\n3\n9\n");
  dir.write(stem + "_edge_labels.txt", "0\n0\n5\n5\n0\n0\n");
}

TEST(Tu, ManyGraphs) {
  const TempDir dir;
  write_two(dir);
  dir.write("X_node_attributes.txt", " 1.5\n2\n3\n4\n5\n");
  const Dataset data = load(dir.path());
  EXPECT_EQ(data.form, "TU directory");
  ASSERT_FALSE(data.is_graph());
  const GraphSetParts& parts = data.graph_set().parts();
  EXPECT_EQ(parts.node_offsets, (std::vector<int64_t>{0, 3, 5}));
  EXPECT_EQ(parts.edge_offsets, (std::vector<int64_t>{0, 2, 3})) << "each edge once";
  EXPECT_EQ(parts.edges, (std::vector<Edge>{{0, 1}, {1, 2}, {0, 1}}));
  EXPECT_EQ(parts.node_codes.values, (std::vector<int16_t>{1, 0, 1, 0, 2}));
  EXPECT_EQ(parts.edge_codes.values, (std::vector<int16_t>{0, 1, 0}));
  EXPECT_EQ(parts.task_names, (std::vector<std::string>{"class"}));
  EXPECT_EQ(parts.targets, (std::vector<double>{1, 0}));
  ASSERT_EQ(data.notes.size(), 2u);
  EXPECT_NE(data.notes[0].find("graph label -1 is target 0, 1 is 1"), std::string::npos);
  EXPECT_NE(data.notes[1].find("X_node_attributes.txt: attributes of sets of graphs are not read yet"),
            std::string::npos);
}

TEST(Tu, OurDirectoryFormKeepsThem) {
  const TempDir dir;
  write_two(dir, "raw/X");  // as PyTorch Geometric downloads them
  dir.write("raw/X_graph_labels.txt", "1\nnan\n");
  const Dataset data = load(dir.path());
  write_directory(dir / "copy", data.graph_set(), false);
  const Dataset copy = load(dir / "copy");
  EXPECT_EQ(copy.form, "directory of graphs");
  EXPECT_EQ(content_hash(copy.graph_set()), content_hash(data.graph_set()));
  EXPECT_EQ(copy.graph_set().parts().task_names, data.graph_set().parts().task_names);
  EXPECT_TRUE(std::isnan(copy.graph_set().parts().targets[1]));
  dir.write("copy/targets.csv.gz", gzip_bytes("class\n0\n1\n1\n"));
  EXPECT_DATA_ERROR(load(dir / "copy"), "targets.csv.gz: 3 rows for 2 graphs");
}

TEST(Tu, MoreClassesAreTasks) {
  const TempDir dir;
  dir.write("X_A.txt", "");
  dir.write("X_graph_indicator.txt", "1\n2\n3\n4\n");
  dir.write("X_graph_labels.txt", "1\n2\n4\n2\n");
  const GraphSet set = load(dir.path()).graph_set();
  EXPECT_EQ(set.parts().task_names, (std::vector<std::string>{"class_1", "class_2", "class_4"}));
  EXPECT_EQ(set.parts().targets, (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0}));
}

TEST(Tu, NumbersAsTargets) {
  const TempDir dir;
  dir.write("X_A.txt", "1,2\n2,1\n");
  dir.write("X_graph_indicator.txt", "1\n1\n2\n");
  dir.write("X_graph_attributes.txt", "0.5, 2\n1.5, 3\n");
  const GraphSet set = load(dir.path()).graph_set();
  EXPECT_EQ(set.parts().task_names, (std::vector<std::string>{"target_0", "target_1"}));
  EXPECT_EQ(set.parts().targets, (std::vector<double>{0.5, 2, 1.5, 3}));
}

TEST(Tu, OneGraph) {
  const TempDir dir;
  dir.write("X_A.txt", "1, 2\n2, 1\n2, 3\n3, 2\n");
  dir.write("X_graph_indicator.txt", "1\n1\n1\n");
  dir.write("X_node_labels.txt", "0\n1\n-1\n");
  dir.write("X_node_attributes.txt", "0.5, 1\n1, 2\n2, 3\n");
  const Dataset data = load(dir.path());
  ASSERT_TRUE(data.is_graph());
  EXPECT_EQ(data.graph().num_nodes(), 3);
  EXPECT_EQ(data.graph().adjacency().num_edges(), 2);
  EXPECT_EQ(data.graph().labels(), (std::vector<int32_t>{0, 1, kUnlabelled}));
  EXPECT_EQ(data.graph().features().columns(), 2);
}

TEST(Tu, OneGraphNeedsNoIndicator) {
  const TempDir dir;
  dir.write("X_A.txt", "1, 2\n");
  dir.write("X_node_labels.txt", "0\n1\n0\n");
  EXPECT_EQ(load(dir.path()).graph().num_nodes(), 3);
  dir.write("X_A.txt", "1, 4\n");
  EXPECT_DATA_ERROR(load(dir.path()), "X_A.txt:1: node 4 is outside 1..3");
}

TEST(Tu, Errors) {
  const TempDir dir;
  const auto with = [&](const std::string& name, const std::string& text, const std::string& message) {
    write_two(dir);
    if (name == "X_A.txt") std::filesystem::remove(dir / "X_edge_labels.txt");
    dir.write(name, text);
    EXPECT_DATA_ERROR(load(dir.path()), message);
  };
  with("X_A.txt", "1, 2\n3, 4\n", "X_A.txt:2: joins node 3 of graph 1 with node 4 of graph 2");
  with("X_A.txt", "1, 2\n0, 1\n", "X_A.txt:2: node number 0 is below 1");
  with("X_A.txt", "1, 6\n", "X_A.txt:1: node 6 is outside 1..5");
  with("X_graph_indicator.txt", "1\n2\n1\n2\n2\n", "node 3 is in graph 1, expected graph 2 or 3");
  with("X_graph_indicator.txt", "0\n0\n0\n1\n1\n", "graphs are numbered from 1");
  with("X_graph_labels.txt", "1\n", "X_graph_labels.txt: 1 rows for 2 graphs");
  with("X_graph_labels.txt", "1\nx\n", "X_graph_labels.txt:2: 'x' is not a number");
  with("X_node_labels.txt", "1\n2\n", "X_node_labels.txt: 2 rows for 5 nodes");
  with("X_node_labels.txt", "1\n2\n3\n4,4\n5\n", "X_node_labels.txt:4: 2 columns, expected 1");
  with("X_node_labels.txt", "1\n2\n3\nnan\n5\n", "X_node_labels.txt: row 4: a label is missing");
  with("X_edge_labels.txt", "1\n", "X_edge_labels.txt: 1 rows for 6 edges");
}

}  // namespace
}  // namespace graphpae
