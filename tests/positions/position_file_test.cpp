#include "graphpae/positions/position_file.h"

#include <gtest/gtest.h>

#include "graphpae/data/generate.h"
#include "graphpae/io/npy.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

Graph small_graph(int64_t seed) {
  GenerateOptions options = generate_defaults("structure");
  options.nodes = 60;
  options.edges = 200;
  options.isolated = 2;
  options.seed = seed;
  return generate(options, Threads{1});
}

PositionOptions options_for(int64_t k) {
  PositionOptions options;
  options.k = k;
  return options;
}

TEST(PositionFile, KeepsEverything) {
  const TempDir dir;
  const Positions positions = laplacian_positions(small_graph(1).adjacency(), options_for(100));  // padded, with a note
  ASSERT_FALSE(positions.notes.empty());
  write_positions(dir / "p.npz", positions);
  const Positions again = read_positions(dir / "p.npz");
  EXPECT_EQ(again.eigenvalues, positions.eigenvalues);
  EXPECT_EQ(again.eigenvectors, positions.eigenvectors);
  EXPECT_EQ(again.residuals, positions.residuals);
  EXPECT_EQ(again.notes, positions.notes);
  EXPECT_EQ(again.solver, positions.solver);
  EXPECT_EQ(again.computed, positions.computed);
  EXPECT_EQ(again.isolated, positions.isolated);
  EXPECT_EQ(NpzFile(dir / "p.npz").read("eigenvectors").shape, (std::vector<int64_t>{62, 100}));
}

TEST(PositionCache, FindsOnlyTheSameGraphAndOptions) {
  const TempDir dir;
  const PositionCache cache(dir / "cache");
  const Graph one = small_graph(1), two = small_graph(2);
  const std::string key = position_key(one.adjacency(), options_for(4));
  EXPECT_FALSE(cache.find(key));
  cache.store(key, laplacian_positions(one.adjacency(), options_for(4)));
  ASSERT_TRUE(cache.find(key));
  EXPECT_EQ(cache.find(key)->k, 4);
  EXPECT_NE(position_key(two.adjacency(), options_for(4)), key);
  EXPECT_NE(position_key(one.adjacency(), options_for(5)), key);
  PositionOptions absolute = options_for(4);
  absolute.absolute = true;
  EXPECT_NE(position_key(one.adjacency(), absolute), key);
}

TEST(PositionCache, KeepsPositionsOfManyGraphs) {
  const TempDir dir;
  const PositionCache cache(dir / "cache");
  // A triangle, nothing, and a path with an isolated node.
  const std::vector<int64_t> nodes = {0, 3, 3, 7}, edges = {0, 3, 3, 5};
  std::vector<Edge> list = {{0, 1}, {1, 2}, {2, 0}, {0, 1}, {1, 2}};
  const GraphBatch batch{nodes, edges, list};
  const BatchPositions positions = position_batch(batch, options_for(4));
  const std::string key = position_key(batch, options_for(4));
  EXPECT_FALSE(cache.find_batch(key));
  cache.store(key, positions);
  const auto found = cache.find_batch(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->k, 4);
  EXPECT_EQ(found->eigenvalues, positions.eigenvalues);
  EXPECT_EQ(found->eigenvectors, positions.eigenvectors);
  EXPECT_EQ(found->computed, positions.computed);
  EXPECT_EQ(found->padded_graphs, positions.padded_graphs);
  EXPECT_EQ(found->padded_graphs, 2);
  EXPECT_FALSE(cache.find(key));  // not of one graph
  EXPECT_NE(position_key(batch, options_for(5)), key);
  list.back() = {2, 3};
  EXPECT_NE(position_key(batch, options_for(4)), key);

  const std::string path = dir / ("cache/positions-" + key + ".npz"), good = test::slurp(path);
  for (size_t at = 0; at < good.size(); at += 61) {
    std::string bad = good;
    bad[at] ^= 0x10;
    dir.write("cache/positions-" + key + ".npz", bad);
    if (const auto read = cache.find_batch(key)) {
      EXPECT_EQ(read->eigenvectors, positions.eigenvectors) << at;
    }
  }
  dir.write("cache/positions-" + key + ".npz", good.substr(0, good.size() / 2));
  EXPECT_FALSE(cache.find_batch(key));
}

TEST(PositionCache, IgnoresDamagedFiles) {
  const TempDir dir;
  const PositionCache cache(dir.path());
  const Graph graph = small_graph(1);
  const std::string key = position_key(graph.adjacency(), options_for(4)), path = dir / ("positions-" + key + ".npz");
  cache.store(key, laplacian_positions(graph.adjacency(), options_for(4)));
  const std::string good = test::slurp(path);
  for (size_t at = 0; at < good.size(); at += 97) {
    std::string bad = good;
    bad[at] ^= 0x10;
    dir.write("positions-" + key + ".npz", bad);
    if (const auto found = cache.find(key)) {  // a flip in unused header bytes changes nothing
      EXPECT_EQ(found->eigenvectors, laplacian_positions(graph.adjacency(), options_for(4)).eigenvectors) << at;
    }
  }
  // Another's eigenvectors in a file that is otherwise in order: only the checksum tells.
  write_positions(dir / "other.npz", laplacian_positions(small_graph(2).adjacency(), options_for(4)));
  dir.write("good.npz", good);
  std::vector<ZipEntry> mixed;
  for (const std::string& name : ZipArchive(dir / "good.npz").names()) {
    const ZipArchive source(dir / (name == "eigenvectors.npy" ? "other.npz" : "good.npz"));
    const ZipArchive::Member member = source.open(name);
    mixed.push_back({name, std::string(member.size, '\0')});
    member.read(mixed.back().bytes.data(), member.size);
  }
  write_zip(path, mixed);
  EXPECT_FALSE(cache.find(key));
  EXPECT_DATA_ERROR(read_positions(path), "its checksum does not match");
  dir.write("positions-" + key + ".npz", good.substr(0, good.size() / 2));
  EXPECT_FALSE(cache.find(key));
  EXPECT_DATA_ERROR(read_positions(path), path);
}

}  // namespace
}  // namespace graphpae
