#include "graphpae/positions/position_batch.h"

#include <gtest/gtest.h>

#include "graphpae/core/error.h"
#include "tests/positions/test_graphs.h"

namespace graphpae {
namespace {

struct Flat {
  std::vector<int64_t> node_offsets{0}, edge_offsets{0};
  std::vector<Edge> edges;
  std::vector<testing::TestGraph> graphs;

  void add(const testing::TestGraph& graph) {
    graphs.push_back(graph);
    edges.insert(edges.end(), graph.edges.begin(), graph.edges.end());
    node_offsets.push_back(node_offsets.back() + graph.num_nodes);
    edge_offsets.push_back(static_cast<int64_t>(edges.size()));
  }
  GraphBatch batch() const { return {node_offsets, edge_offsets, edges}; }
};

Flat molecules() {
  Flat flat;
  for (int64_t n = 1; n < 30; ++n) flat.add(testing::random_graph(n, n / 8, static_cast<uint64_t>(n)));
  flat.add(testing::disjoint_union({testing::path(4), testing::isolated(2), testing::cycle(6)}));
  flat.add(testing::cycle(6));
  flat.add(testing::isolated(0));
  flat.add(testing::star(9));
  return flat;
}

TEST(PositionBatch, EqualsOneGraphAtATime) {
  const Flat flat = molecules();
  for (const bool skip_zero : {false, true}) {
    PositionOptions options;
    options.k = 6;
    options.skip_zero = skip_zero;
    options.absolute = skip_zero;
    const BatchPositions batch = position_batch(flat.batch(), options, Threads{2});
    for (size_t g = 0; g < flat.graphs.size(); ++g) {
      const Positions one = laplacian_positions(flat.graphs[g].adjacency(), options);
      EXPECT_EQ(batch.computed[g], one.computed);
      for (int64_t j = 0; j < 6; ++j) EXPECT_EQ(batch.eigenvalues[g * 6 + j], one.eigenvalues[j]);
      for (int64_t i = 0; i < one.num_nodes * 6; ++i) {
        EXPECT_EQ(batch.eigenvectors[flat.node_offsets[g] * 6 + i], one.eigenvectors[i]);
      }
    }
    EXPECT_EQ(batch.unconverged_graphs, 0);
    EXPECT_GT(batch.padded_graphs, 0);
    EXPECT_GT(batch.cut_graphs, 0);
  }
}

TEST(PositionBatch, AnyNumberOfThreadsGivesTheSameBits) {
  Flat flat = molecules();
  for (int copies = 0; copies < 30; ++copies) flat.add(testing::random_graph(20 + copies, 4, 7));
  PositionOptions options;
  options.k = 6;
  const BatchPositions one = position_batch(flat.batch(), options, Threads{1});
  for (const int count : {2, 3}) {
    EXPECT_EQ(one.eigenvectors, position_batch(flat.batch(), options, Threads{count}).eigenvectors);
  }
}

TEST(PositionBatch, NamesTheGraphOfABadEdge) {
  Flat flat = molecules();
  flat.edges[flat.edge_offsets[5]].dst = 99;
  PositionOptions options;
  options.k = 3;
  try {
    position_batch(flat.batch(), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_NE(std::string(error.what()).find("graph 5"), std::string::npos) << error.what();
  }
}

TEST(PositionBatch, CanBeInterrupted) {
  const Flat flat = molecules();
  PositionOptions options;
  options.k = 3;
  EXPECT_THROW(position_batch(flat.batch(), options, Threads{1}, [](int64_t) { return false; }), Error);
}

}  // namespace
}  // namespace graphpae
