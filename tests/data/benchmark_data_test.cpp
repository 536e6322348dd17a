// Real benchmark sets, if GRAPHPAE_TEST_DATA names a directory that holds them: every count is the published one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "graphpae/data/load.h"
#include "graphpae/data/summary.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae {
namespace {

struct GraphFacts {
  const char* name;
  int64_t nodes, edges, edge_rows, self_loops, features, nonzeros, empty_rows, classes, unlabelled, components, splits;
  double homophily;
};

std::string place_of(const std::string& name) {
  const char* root = std::getenv("GRAPHPAE_TEST_DATA");
  const std::string path = root == nullptr ? "" : std::string(root) + "/" + name;
  return !path.empty() && std::filesystem::exists(path) ? path : "";
}

void PrintTo(const GraphFacts& facts, std::ostream* out) { *out << facts.name; }

class BenchmarkData : public testing::TestWithParam<GraphFacts> {};

TEST_P(BenchmarkData, HasThePublishedCounts) {
  const GraphFacts& facts = GetParam();
  const std::string path = place_of(facts.name);
  if (path.empty()) GTEST_SKIP() << "not there";
  LoadOptions options;
  options.threads = all_threads();
  const GraphSummary s = summarise(load(path, options).graph());
  EXPECT_EQ(s.nodes, facts.nodes);
  EXPECT_EQ(s.edges, facts.edges);
  EXPECT_EQ(s.edge_rows, facts.edge_rows);
  EXPECT_EQ(s.self_loops, facts.self_loops);
  EXPECT_EQ(s.features, facts.features);
  EXPECT_EQ(s.feature_nonzeros, facts.nonzeros);
  EXPECT_EQ(s.feature_empty_rows, facts.empty_rows);
  EXPECT_EQ(s.classes, facts.classes);
  EXPECT_EQ(s.unlabelled, facts.unlabelled);
  EXPECT_EQ(s.components, facts.components);
  EXPECT_EQ(static_cast<int64_t>(s.split_sizes.size()), facts.splits);
  EXPECT_NEAR(*s.edge_homophily, facts.homophily, 5e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, BenchmarkData,
    testing::Values(GraphFacts{"chameleon", 2277, 31371, 36101, 50, 2325, 29157, 233, 5, 0, 1, 10, 0.2299},
                    GraphFacts{"squirrel", 5201, 198353, 217073, 140, 2089, 93477, 165, 5, 0, 1, 10, 0.2221},
                    GraphFacts{"actor", 7600, 26659, 33391, 93, 932, 40977, 0, 5, 0, 1, 10, 0.2167},
                    GraphFacts{"blogcatalog", 5196, 171743, 343486, 0, 8189, 369435, 0, 6, 0, 1, 1, 0.4011},
                    GraphFacts{"facebook_page", 22470, 170823, 171002, 179, 4714, 314583, 0, 4, 0, 1, 10, 0.8853},
                    GraphFacts{"fb100_cornell5", 18660, 790777, 790777, 0, 4735, 111960, 0, 2, 1838, 17, 5, 0.5464},
                    GraphFacts{"fb100_reed98", 962, 18812, 18812, 0, 745, 5772, 0, 2, 97, 1, 5, 0.5216}),
    [](const auto& one) { return std::string(one.param.name); });

// The block solver against the dense one, K chosen at a gap of the spectrum.
TEST(BenchmarkPositions, AgreeWithTheDenseSolver) {
  for (const char* name : {"fb100_reed98", "chameleon"}) {
    const std::string path = place_of(name);
    if (path.empty()) GTEST_SKIP() << "not there";
    const Graph graph = load(path).graph();
    PositionOptions options;
    options.k = 50;
    options.solver = PositionSolver::dense;
    const Positions dense = laplacian_positions(graph.adjacency(), options, all_threads());
    while (options.k > 10 && dense.eigenvalues[options.k - 1] - dense.eigenvalues[options.k - 2] < 1e-4) --options.k;
    --options.k;
    options.solver = PositionSolver::block;
    const Positions block = laplacian_positions(graph.adjacency(), options, all_threads());
    EXPECT_EQ(block.solver, "block");
    for (int64_t j = 0; j < options.k; ++j)
      EXPECT_NEAR(block.eigenvalues[j], dense.eigenvalues[j], 1e-9) << name << " " << j;
    // Distances do not depend on the basis of an eigenspace.
    for (int64_t u = 0; u < graph.num_nodes(); ++u) {
      for (const int32_t v : graph.adjacency().row(u)) {
        double expected = 0, found = 0;
        for (int64_t j = 0; j < options.k; ++j) {
          expected += std::pow(dense.eigenvectors[u * dense.k + j] - dense.eigenvectors[v * dense.k + j], 2);
          found += std::pow(block.eigenvectors[u * block.k + j] - block.eigenvectors[v * block.k + j], 2);
        }
        ASSERT_NEAR(std::sqrt(found), std::sqrt(expected), 1e-4) << name << " edge " << u << "-" << v;
      }
    }
  }
}

struct MoleculeFacts {
  const char* name;
  int64_t molecules, tasks, min_atoms, max_atoms, fragmented, single_atom, train, valid, test;
  double atoms, bonds;
};

void PrintTo(const MoleculeFacts& facts, std::ostream* out) { *out << facts.name; }

class BenchmarkMolecules : public testing::TestWithParam<MoleculeFacts> {};

TEST_P(BenchmarkMolecules, HaveThePublishedCounts) {
  const MoleculeFacts& facts = GetParam();
  const std::string path = place_of(facts.name);
  if (path.empty()) GTEST_SKIP() << "not there";
  const GraphSetSummary s = summarise(load(path).graph_set());
  EXPECT_EQ(s.molecules, facts.molecules);
  EXPECT_EQ(static_cast<int64_t>(s.tasks.size()), facts.tasks);
  EXPECT_NEAR(s.mean_nodes, facts.atoms, 5e-4);
  EXPECT_NEAR(s.mean_edges, facts.bonds, 5e-4);
  EXPECT_EQ(s.min_nodes, facts.min_atoms);
  EXPECT_EQ(s.max_nodes, facts.max_atoms);
  EXPECT_EQ(s.fragmented, facts.fragmented);
  EXPECT_EQ(s.single_node, facts.single_atom);
  if (facts.train > 0) {
    EXPECT_EQ(s.split_sizes.at(0), (std::array<int64_t, 3>{facts.train, facts.valid, facts.test}));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Molecules, BenchmarkMolecules,
    testing::Values(MoleculeFacts{"molfreesolv", 642, 1, 1, 24, 0, 3, 513, 64, 65, 8.723, 8.388},
                    MoleculeFacts{"molbace", 1513, 1, 10, 97, 0, 0, 1210, 151, 152, 34.089, 36.859},
                    MoleculeFacts{"mollipo", 4200, 1, 7, 115, 1, 0, 3360, 420, 420, 27.04, 29.5},
                    MoleculeFacts{"moltox21", 7831, 12, 1, 132, 245, 16, 6264, 783, 784, 18.575, 19.294},
                    MoleculeFacts{"qm9_subset", 14715, 12, 2, 9, 0, 0, 11772, 1471, 1472, 8.796, 9.406},
                    MoleculeFacts{"zinc250k", 249455, 0, 6, 38, 0, 0, 0, 0, 0, 23.151, 24.902}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace graphpae
