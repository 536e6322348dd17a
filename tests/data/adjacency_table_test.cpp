// Adjacency matrices as tables and arrays, and the edge lists that must not be taken for them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "graphpae/data/load.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/npy.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

// Nodes a b c d with edges a-b (2) and b-c (1).
void expect_matrix(const Dataset& data, bool named = true) {
  ASSERT_TRUE(data.is_graph());
  EXPECT_EQ(data.form, "adjacency matrix");
  EXPECT_EQ(data.graph().num_nodes(), 4);
  EXPECT_EQ(data.graph().adjacency().num_edges(), 2);
  EXPECT_EQ(data.graph().adjacency().row_weights(1)[0], 2);
  EXPECT_FALSE(data.graph().is_directed());
  EXPECT_EQ(data.graph().node_name(3), named ? "d" : "3");
}

TEST(AdjacencyTable, WithNamesAndWithout) {
  const TempDir dir;
  expect_matrix(load(dir.write("m.csv", "0,2,0,0\n2,0,1,0\n0,1,0,0\n0,0,0,0\n")), false);
  expect_matrix(load(dir.write("m.txt", "0.0e+00 2.0e+00 0 0\n2 0 1 0\n0 1 0 0\n0 0 0 0")), false);
  expect_matrix(load(dir.write("m.csv", "a,b,c,d\n0,2,0,0\n2,0,1,0\n0,1,0,0\n0,0,0,0\n")));
  expect_matrix(load(dir.write("m.tsv", "\ta\tb\tc\td\na\t0\t2\t0\t0\nb\t2\t0\t1\t0\nc\t0\t1\t0\t0\nd\t0\t0\t0\t0\n")));
  expect_matrix(load(dir.write(
      "m.csv", "\"\",\"a\",\"b\",\"c\",\"d\"\n\"a\",0,2,0,0\n\"b\",2,0,1,0\n\"c\",0,1,0,0\n\"d\",0,0,0,0\n")));
  expect_matrix(load(dir.write("m.csv", "node,a,b,c,d\na,0,2,0,0\nb,2,0,1,0\nc,0,1,0,0\nd,0,0,0,0\n")));
  // As pandas writes it: the index is a column without a name.
  expect_matrix(load(dir.write("m.csv", ",0,1,2,3\n0,0,2,0,0\n1,2,0,1,0\n2,0,1,0,0\n3,0,0,0,0\n")), false);
  expect_matrix(load(dir.write("m.csv.gz", gzip_bytes("0;2;0;0\r\n2;0;1;0\r\n0;1;0;0\r\n0;0;0;0\r\n"))), false);
}

TEST(AdjacencyTable, OfThirtyFourNodesHasNoPhantoms) {
  const TempDir dir;
  std::string text;
  for (int row = 0; row < 34; ++row) {
    for (int column = 0; column < 34; ++column)
      text += (column > 0 ? "," : "") + std::string(row / 2 == column / 2 && row != column ? "1" : "0");
    text += "\n";
  }
  const Graph graph = load(dir.write("karate.csv", text)).graph();
  EXPECT_EQ(graph.num_nodes(), 34);
  EXPECT_EQ(graph.adjacency().num_edges(), 17);
  EXPECT_FALSE(graph.adjacency().has_weights()) << "ones are no weights";
}

TEST(AdjacencyTable, Directed) {
  const TempDir dir;
  const Graph graph = load(dir.write("m.csv", "0,1,0\n0,0,1\n0,0,0\n")).graph();
  EXPECT_TRUE(graph.is_directed());
  EXPECT_GE(graph.directed_edges().find(0, 1), 0);
  EXPECT_EQ(graph.directed_edges().find(1, 0), -1);
}

TEST(AdjacencyTable, EdgeListsStayEdgeLists) {
  const TempDir dir;
  for (const char* text :
       {"0,1\n1,2\n", "0,1,5\n1,2,7\n2,0,9\n", "0,1,2\n1,2,3\n", "source,target,weight\n0,1,1\n1,2,1\n2,3,4\n",
        "1,2,0.5,1999\n2,3,0.7,1998\n3,4,0.1,1997\n4,1,0.2,1996\n", "a,b,c\nb,c,d\nc,d,e\n",
        "from,to,rank\n0,1,0\n1,2,0\n2,0,0\n"}) {
    EXPECT_EQ(load(dir.write("e.csv", text)).form, "edge list") << text;
  }
  EXPECT_DATA_ERROR(load(dir.write("e.csv", "0,1,0\n1,2,0\n2,0,0\n")), "the first column counts the rows");
}

TEST(AdjacencyTable, NumPyArrays) {
  const TempDir dir;
  const std::vector<double> square = {0, 2, 0, 2, 0, 1, 0, 1, 0};
  const Dataset matrix = load(dir.write("a.npy", npy_bytes<double>(square, {3, 3})));
  EXPECT_EQ(matrix.graph().num_nodes(), 3);
  EXPECT_EQ(matrix.graph().adjacency().num_edges(), 2);
  EXPECT_EQ(matrix.graph().adjacency().row_weights(0)[0], 2);
  EXPECT_NE(matrix.notes.at(0).find("read as an adjacency matrix of 3 nodes"), std::string::npos);
  const std::vector<int64_t> edges = {0, 1, 2, 1, 2, 3};
  EXPECT_EQ(load(dir.write("e.npy", npy_bytes<int64_t>(edges, {2, 3}))).graph().num_nodes(), 4);
  EXPECT_EQ(load(dir.write("f.npy", npy_bytes<int64_t>(edges, {3, 2}))).graph().adjacency().num_edges(), 3);
  EXPECT_DATA_ERROR(load(dir.write("g.npy", npy_bytes<int64_t>(edges, {6}))), "g.npy");
  EXPECT_DATA_ERROR(load(dir.write("h.npy", npy_bytes<double>(square, {1, 9}))),
                    "is 1 x 9, expected a square adjacency matrix");
  const std::vector<double> nan = {0, NAN, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_DATA_ERROR(load(dir.write("i.npy", npy_bytes<double>(nan, {3, 3}))),
                    "i.npy: row 0, column 1: nan is not finite");
  const std::vector<int64_t> far = {0, 2000000000};
  EXPECT_DATA_ERROR(load(dir.write("j.npy", npy_bytes<int64_t>(far, {1, 2}))),
                    "node number 2000000000 is too large for 1 edges");
}

}  // namespace
}  // namespace graphpae
