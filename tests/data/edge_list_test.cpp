#include "graphpae/data/edge_list.h"

#include <gtest/gtest.h>

#include "graphpae/core/rng.h"
#include "graphpae/data/node_ids.h"
#include "graphpae/io/atomic_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

std::vector<Edge> flatten(const EdgeBlocks& blocks) {
  std::vector<Edge> edges;
  for (const auto& block : blocks) edges.insert(edges.end(), block.begin(), block.end());
  return edges;
}

EdgeList read(const TempDir& dir, const std::string& text, EdgeListOptions options = {}) {
  return read_edge_list(dir.write("e.txt", text), options);
}

const std::vector<Edge> kThree = {{0, 1}, {1, 2}, {10, 20}};

TEST(EdgeList, RecognisesDelimitersHeadersAndComments) {
  const TempDir dir;
  for (const char* text : {"0,1\n1,2\n10,20\n", "0,1\n1,2\n10,20", "src,dst\n0,1\n1,2\n10,20\n", "0\t1\n1\t2\n10\t20\n",
                           "0 1\n1  2\n 10 20 \n", "# made by hand\n\n% more\nfrom;to\n0;1\n1;2\n// gap\n\n10;20\n",
                           "a,b\r\n0,1\r\n1,2\r\n10,20\r\n",
                           "\xef\xbb\xbf"
                           "source,target\n0, 1\n1 ,2\n10,20\n",
                           "node_id\tnode_id\n0\t1\n+1\t2\n0010\t20\n"}) {
    EXPECT_EQ(flatten(read(dir, text).blocks), kThree) << text;
  }
}

TEST(EdgeList, LeavesOutFurtherColumnsWithANote) {
  const TempDir dir;
  const EdgeList list = read(dir, "src,dst,year\n0,1,0.5\n1,2,\n10,20,7\n");
  EXPECT_EQ(flatten(list.blocks), kThree);
  EXPECT_TRUE(list.weights.empty());
  ASSERT_EQ(list.notes.size(), 1u);
  EXPECT_NE(list.notes[0].find("column year is left out; if it holds weights, say --columns 1,2,3"), std::string::npos);
}

TEST(EdgeList, ReadsWeightsOfNumbersAndNames) {
  const TempDir dir;
  for (const char* text : {"src,dst,weight\n0,1,0.5\n1,2,2\n\"10\",20,7\n", "w,dst,src\n0.5,b,a\n2,c,b\n7,e,d\n"}) {
    const EdgeList list = read(dir, text);
    ASSERT_EQ(list.weights.size(), 1u);
    EXPECT_EQ(list.weights[0], (Buffer<float>{0.5f, 2, 7})) << text;
    EXPECT_TRUE(list.notes.empty());
  }
}

TEST(EdgeList, KeepsNames) {
  const TempDir dir;
  const EdgeList list = read(dir, "source,target\nalice,bob\nbob,\"carol, jr\"\nalice,7\n");
  EXPECT_EQ(flatten(list.blocks), (std::vector<Edge>{{0, 1}, {1, 2}, {0, 3}}));
  ASSERT_EQ(list.names.size(), 4);
  EXPECT_EQ(list.names[2], "carol, jr");
  EXPECT_EQ(list.names[3], "7");
  const EdgeList forced = read(dir, "900000000000,5\n5,6\n", {NodeIds::names, -1, {}});
  EXPECT_EQ(forced.num_nodes, 3);
  EXPECT_EQ(forced.names[0], "900000000000");
}

TEST(EdgeList, ErrorsNameFileAndLine) {
  const TempDir dir;
  EXPECT_DATA_ERROR(read(dir, "0,1\n1,2,3\n"), "e.txt:2: 3 columns, expected 2");
  EXPECT_DATA_ERROR(read(dir, "0,1\n1\n"), "e.txt:2: 1 columns, expected 2");
  EXPECT_DATA_ERROR(read(dir, "0,1\n1,\n"), "e.txt:2: '' is not a node number");
  EXPECT_DATA_ERROR(read(dir, "0,1\n\n# x\n1,2x\n"), "e.txt:4: '2x' is not a node number");
  EXPECT_DATA_ERROR(read(dir, "0,1\n1,-2\n"), "e.txt:2: node number -2 is below 0");
  EXPECT_DATA_ERROR(read(dir, "0,1\n1,2147483648\n"), "e.txt:2: node number 2147483648 is above");
  EXPECT_DATA_ERROR(read(dir, "0,1\n1,99999999999999999999\n"), "e.txt:2: '99999999999999999999' is not a node number");
  EXPECT_DATA_ERROR(read(dir, "0,1\n1,5\n", {NodeIds::numbers, 5, {}}), "e.txt:2: node 5 is outside 0..4");
  const EdgeList far = read(dir, "0,1\n1,2000000000\n", {NodeIds::numbers, -1, {}});
  EXPECT_DATA_ERROR(check_largest_id(far, "e.txt"), "--ids names");
  EXPECT_DATA_ERROR(read(dir, "lonely\n"), "e.txt:1: 'lonely' is not an edge");
  EXPECT_DATA_ERROR(read(dir, "a,b\nc,d,e\n"), "e.txt:2: 3 columns, expected 2");
  EXPECT_DATA_ERROR(read(dir, "a,b\nc,\n"), "e.txt:2: a node name is empty");
  EXPECT_DATA_ERROR(read_edge_list(dir / "missing.csv"), "missing.csv: No such file");
}

TEST(EdgeList, AnEmptyFileHasNoEdges) {
  const TempDir dir;
  EXPECT_EQ(count_edges(read(dir, "").blocks), 0);
  EXPECT_EQ(count_edges(read(dir, "src,dst\n").blocks), 0);
  EXPECT_EQ(read(dir, "src,dst\n", {NodeIds::numbers, 4, {}}).num_nodes, 4);
}

// Many blocks, ids of one to nine digits, lines that end at every offset of a block boundary.
class LargeEdgeList : public testing::TestWithParam<int> {};

TEST_P(LargeEdgeList, IsTheSameForAnyThreadsPlainOrGzipped) {
  const TempDir dir;
  const Rng rng(GetParam());
  std::vector<Edge> expected;
  std::string text = "src,dst\n";
  for (int i = 0; text.size() < (9u << 20) + GetParam(); ++i) {
    const auto id = [&](uint64_t index) {
      return static_cast<int32_t>(rng.below(index, uint64_t{1} << (1 + rng.below(index + 1, 26))));
    };
    expected.push_back({id(i * 4), id(i * 4 + 2)});
    text += std::to_string(expected.back().src) + "," + std::to_string(expected.back().dst) +
            (i % 1000 == 0 ? "\r\n" : "\n");
  }
  const std::string plain = dir.write("a.csv", text), packed = dir.write("a.csv.gz", gzip_bytes(text));
  for (const int threads : {1, 2, 5}) {
    EXPECT_EQ(flatten(read_edge_list(plain, {NodeIds::automatic, 1 << 27, Threads{threads}}).blocks), expected);
  }
  EXPECT_EQ(flatten(read_edge_list(packed, {NodeIds::automatic, 1 << 27, {}}).blocks), expected);
  // An error far behind the first block still names its line, for any way of reading.
  text += "12,oops\n";
  const std::string line = std::to_string(expected.size() + 2);
  EXPECT_DATA_ERROR(read_edge_list(dir.write("b.csv", text), {NodeIds::automatic, -1, Threads{2}}),
                    "b.csv:" + line + ": 'oops'");
  EXPECT_DATA_ERROR(read_edge_list(dir.write("b.csv.gz", gzip_bytes(text))), "b.csv.gz:" + line + ": 'oops'");
}

INSTANTIATE_TEST_SUITE_P(Offsets, LargeEdgeList, testing::Values(0, 3, 7));

TEST(EdgeList, BlockBoundariesLoseNothing) {
  // Lines of 8 bytes: with a header of 1 to 8 bytes the boundary of 4 MiB falls on each place of a line.
  const TempDir dir;
  for (int shift = 1; shift <= 9; ++shift) {
    std::string text = "#" + std::string(shift - 1, 'x') + "\n";
    std::vector<Edge> expected;
    for (int i = 0; i < 600000; ++i) {
      expected.push_back({100 + i % 900, 100 + i / 900});
      text += std::to_string(expected.back().src) + " " + std::to_string(expected.back().dst) + "\n";
    }
    ASSERT_EQ(flatten(read_edge_list(dir.write("a.txt", text), {NodeIds::numbers, -1, Threads{2}}).blocks), expected)
        << shift;
  }
}

TEST(EdgeList, AVeryLongLineIsReadOnce) {
  const TempDir dir;
  const std::string text = "0,1\n#" + std::string(10 << 20, 'x') + "\n1,2\n10,20\n";
  EXPECT_EQ(flatten(read_edge_list(dir.write("a.csv", text), {NodeIds::numbers, -1, Threads{2}}).blocks), kThree);
  EXPECT_EQ(flatten(read_edge_list(dir.write("a.csv.gz", gzip_bytes(text))).blocks), kThree);
}

}  // namespace
}  // namespace graphpae
