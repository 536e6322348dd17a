// The real program with --solver slepc, alone and under mpirun, against the built-in solvers.
#include <cmath>
#include <nlohmann/json.hpp>

#include "graphpae/positions/position_file.h"
#include "tests/cli/program.h"
#include "tests/positions/test_graphs.h"

namespace graphpae {
namespace {

using namespace graphpae::test;
using graphpae::testing::TestGraph;
using nlohmann::json;

// Open MPI refuses root and more ranks than cores unless it is told otherwise; others ignore these variables.
std::string ranks(int count) {
  return "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
         "'" GRAPHPAE_MPIEXEC "' -n " +
         std::to_string(count);
}

void write_edges(const TempDir& dir, const std::string& name, const TestGraph& graph) {
  std::string text;
  for (const Edge& edge : graph.edges) text += std::to_string(edge.src) + "," + std::to_string(edge.dst) + "\n";
  dir.write(name, text);
}

// Large components with multiplicities up to 84, two of them alike; small ones; isolated nodes. Nodes are mixed.
TestGraph mixed_graph() {
  using namespace graphpae::testing;
  const TestGraph parts = disjoint_union({hypercube(10), hypercube(9), torus(30, 40), isolated(3), star(5),
                                          hypercube(9), complete(4), spider(300), random_graph(2500, 9000, 1)});
  std::vector<int32_t> number(parts.num_nodes);
  for (int64_t i = 0; i < parts.num_nodes; ++i) number[i] = static_cast<int32_t>((i * 7) % parts.num_nodes);
  return permuted(parts, number);
}

// The columns of each eigenvalue span the same space. The last one is left out if K cuts it.
void expect_same_spaces(const Positions& ours, const Positions& other) {
  const int64_t n = other.num_nodes, k = other.computed;
  for (int64_t first = 0, last; first < k; first = last) {
    last = first + 1;
    while (last < k && other.eigenvalues[last] - other.eigenvalues[last - 1] < 1e-7) ++last;
    if (last == k && other.cuts_eigenspace) return;
    for (int64_t j = first; j < last; ++j) {
      std::vector<double> rest(n);
      for (int64_t i = 0; i < n; ++i) rest[i] = ours.eigenvectors[i * ours.k + j];
      for (int64_t c = first; c < last; ++c) {
        double share = 0;
        for (int64_t i = 0; i < n; ++i)
          share += other.eigenvectors[i * other.k + c] * ours.eigenvectors[i * ours.k + j];
        for (int64_t i = 0; i < n; ++i) rest[i] -= share * other.eigenvectors[i * other.k + c];
      }
      double square = 0;
      for (const double x : rest) square += x * x;
      EXPECT_LT(std::sqrt(square), 1e-5) << "column " << j << " of eigenvalue " << other.eigenvalues[j];
    }
  }
}

// Which nodes a column is not zero on: its component.
std::vector<bool> support(const Positions& positions, int64_t column) {
  std::vector<bool> result;
  for (int64_t i = 0; i < positions.num_nodes; ++i)
    result.push_back(positions.eigenvectors[i * positions.k + column] != 0);
  return result;
}

TEST(Slepc, EqualsTheBuiltInSolverOnOneTwoAndThreeRanks) {
  const TempDir dir;
  const TestGraph graph = mixed_graph();
  write_edges(dir, "g.csv", graph);
  PositionOptions options;
  options.k = 150;
  options.tolerance = 1e-9;
  const Positions built_in = laplacian_positions(graph.adjacency(), options);
  ASSERT_EQ(built_in.status, PositionStatus::converged);
  for (const std::string& launcher : {std::string(), ranks(2), ranks(3)}) {
    SCOPED_TRACE(launcher);
    const Outcome outcome =
        run(dir, "positions g.csv --ids numbers -k 150 --tolerance 1e-9 -o p.npz --solver slepc --json", launcher);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["solver"], "dense+slepc");  // and one rank alone has printed
    const Positions positions = read_positions(dir / "p.npz");
    testing::expect_valid(graph, positions, options);
    ASSERT_EQ(positions.computed, built_in.computed);
    EXPECT_EQ(positions.components, built_in.components);
    EXPECT_EQ(positions.isolated, 3);
    EXPECT_EQ(positions.cuts_eigenspace, built_in.cuts_eigenspace);
    for (int64_t j = 0; j < built_in.k; ++j) EXPECT_NEAR(positions.eigenvalues[j], built_in.eigenvalues[j], 1e-8) << j;
    expect_same_spaces(positions, built_in);
    for (const int64_t j : {0, 1, 2, 3, 4, 5, 6}) EXPECT_EQ(support(positions, j), support(built_in, j)) << j;
  }
}

// One Krylov space has one vector of each eigenvalue. The loose tolerance leaves rounding no time to add the others.
TEST(Slepc, FindsEveryCopyOfAMultipleEigenvalue) {
  const TempDir dir;
  for (const TestGraph& graph : {testing::torus(30, 30), testing::hypercube(11)}) {
    write_edges(dir, "g.csv", graph);
    for (const int64_t k : {6, 14, 40}) {
      SCOPED_TRACE(k);
      const Outcome outcome =
          run(dir, "positions g.csv --ids numbers -o p.npz --solver slepc -q -k " + std::to_string(k), ranks(2));
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      PositionOptions options;
      options.k = k;
      testing::expect_valid(graph, read_positions(dir / "p.npz"), options);
    }
  }
}

TEST(Slepc, OptionsMeanTheSame) {
  const TempDir dir;
  const TestGraph graph = mixed_graph();
  write_edges(dir, "g.csv", graph);
  const std::string arguments =
      "positions g.csv --ids numbers -k 40 --tolerance 1e-9 --skip-zero true --extend true --normalisation max_abs "
      "--absolute true --json ";
  const Outcome two = run(dir, arguments + "-o two.npz --solver slepc", ranks(2));
  ASSERT_EQ(two.code, 0) << two.err;
  ASSERT_EQ(run(dir, arguments + "-o one.npz").code, 0);
  const Positions slepc = read_positions(dir / "two.npz"), built_in = read_positions(dir / "one.npz");
  ASSERT_EQ(slepc.k, built_in.k);
  EXPECT_GT(slepc.eigenvalues[0], 1e-6);
  for (int64_t j = 0; j < built_in.k; ++j) {
    EXPECT_NEAR(slepc.eigenvalues[j], built_in.eigenvalues[j], 1e-8) << j;
    double largest = 0;
    for (int64_t i = 0; i < slepc.num_nodes; ++i) largest = std::max(largest, slepc.eigenvectors[i * slepc.k + j]);
    EXPECT_NEAR(largest, 1.0, 1e-12) << j;
  }
}

TEST(Slepc, TheSameRanksGiveTheSameBitsAndACacheServesAll) {
  const TempDir dir;
  ASSERT_EQ(run(dir, "generate structure -o g --nodes 3000 --edges 12000 --isolated 2 -q").code, 0);
  const std::string arguments = "positions g -k 20 --solver slepc --json -o ";
  ASSERT_EQ(run(dir, arguments + "a.npz", ranks(2)).code, 0);
  const std::string cache = "env GRAPHPAE_CACHE='" + (dir / "cache") + "' ";
  EXPECT_EQ(json::parse(run(dir, arguments + "b.npz", cache + ranks(2)).out)["cached"], false);
  EXPECT_EQ(json::parse(run(dir, arguments + "c.npz", cache + ranks(2)).out)["cached"], true);
  EXPECT_TRUE(slurp(dir / "a.npz") == slurp(dir / "b.npz"));
  EXPECT_TRUE(slurp(dir / "a.npz") == slurp(dir / "c.npz"));
}

// mpirun adds lines of its own; graphpae prints one.
void expect_one_error(const TempDir& dir, const std::string& arguments, int code, const std::string& part) {
  const Outcome outcome = run(dir, arguments, ranks(2));
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const size_t at = outcome.err.find("graphpae: error: ");
  ASSERT_NE(at, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("graphpae: error: ", at + 1), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

TEST(Slepc, AnErrorEndsAllRanksWithOneLine) {
  const TempDir dir;
  expect_one_error(dir, "positions none.csv -o p.npz --solver slepc", 3, "none.csv");
  dir.write("m.smi", "CCO\nCC\n");
  expect_one_error(dir, "positions m.smi -o p.npz --solver slepc", 2, "not for a set of graphs");
  write_edges(dir, "g.csv", testing::cycle(2000));
  expect_one_error(dir, "positions g.csv -k 5 -o no/p.npz --solver slepc --tolerance 1e-3", 3,
                   "its directory does not exist");
}

TEST(Slepc, VectorsThatAreNotCertainEndWithCode4) {
  const TempDir dir;
  write_edges(dir, "path.csv", testing::path(10000));
  const Outcome outcome = run(dir, "positions path.csv -k 4 --tolerance 1e-9 -o p.npz --solver slepc -q", ranks(2));
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  EXPECT_NE(outcome.err.find("not all eigenvectors are certain"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_positions(dir / "p.npz").computed, 4);
}

}  // namespace
}  // namespace graphpae
