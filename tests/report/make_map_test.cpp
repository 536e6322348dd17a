#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "graphpae/core/rng.h"
#include "graphpae/report/embedding_map.h"
#include "graphpae/report/page.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

Features random_rows(int64_t n, int64_t d) {
  const Rng rng(7);
  Buffer<float> values;
  for (int64_t i = 0; i < n * d; ++i) values.push_back(static_cast<float>(rng.normal(i)));
  return Features::dense(n, d, std::move(values));
}

Graph star(int32_t n) {
  GraphParts parts;
  parts.num_nodes = n;
  Buffer<Edge> edges;
  for (int32_t i = 1; i < n; ++i) edges.push_back({0, i});
  parts.edges.push_back(std::move(edges));
  for (int32_t i = 0; i < n; ++i) parts.labels.push_back(i % 10 == 0 ? kUnlabelled : i % 3);
  parts.class_names = {"red", "green", "blue"};
  return Graph(std::move(parts));
}

TEST(MakeMap, NodesByClass) {
  const EmbeddingMap map = make_map(random_rows(60, 5), star(60), {});
  EXPECT_EQ(map.groups, (std::vector<std::string>{"red", "green", "blue", "no label"}));
  EXPECT_EQ(map.group[10], 3);
  EXPECT_EQ(map.group[11], 2);
  EXPECT_EQ(map.ids[11], "11");
  EXPECT_FALSE(map.sampled());
  ASSERT_EQ(map.projections.size(), 2u);
  EXPECT_EQ(map.projections[1].name, "PCA");
  EXPECT_EQ(map.projections[1].x.size(), 60u);
  EXPECT_NE(map.projections[0].x, map.projections[1].x);
  for (const double x : map.projections[0].x) EXPECT_TRUE(std::isfinite(x));
}

TEST(MakeMap, ManyNodesAreSampledAndThePageStaysSmall) {
  constexpr int32_t n = 100'000;
  MapOptions options;
  options.threads = {2};
  const EmbeddingMap map = make_map(random_rows(n, 4), star(n), options);
  EXPECT_EQ(map.total, n);
  EXPECT_EQ(map.ids.size(), 4000u);
  EXPECT_TRUE(map.sampled());
  EXPECT_NE(map.projections[0].note.find("Of 100000 nodes, 4000 drawn at random are shown."), std::string::npos);
  std::set<std::string> ids(map.ids.begin(), map.ids.end());
  EXPECT_EQ(ids.size(), 4000u);
  Page page("large");
  page.add_map(map);
  EXPECT_LT(page.html().size(), 5'000'000u);
  EXPECT_NE(page.html().find(map.ids.back()), std::string::npos);
}

GraphSet molecules(const std::vector<std::string>& smiles, const std::vector<double>& targets) {
  GraphSetParts parts;
  parts.num_graphs = static_cast<int64_t>(smiles.size());
  for (const std::string& text : smiles) parts.texts.push_back(text);
  parts.task_names = {"y"};
  parts.targets = targets;
  return GraphSet(std::move(parts));
}

TEST(MakeMap, MoleculesByTargetWithTheirStructures) {
  const std::vector<std::string> smiles = {"CCO", "c1ccccc1", "CC(=O)O", "C[N+](C)(C)C", "CCCC", "OCl"};
  const EmbeddingMap numbers = make_map(random_rows(6, 3), molecules(smiles, {1, 2, 3, 4, 5, std::nan("")}), {});
  EXPECT_TRUE(numbers.ordered);
  EXPECT_EQ(numbers.grouped_by, "y");
  EXPECT_EQ(numbers.groups.size(), 6u);
  EXPECT_EQ(numbers.groups.back(), "no label");
  EXPECT_EQ(numbers.group, (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  ASSERT_EQ(numbers.drawings.size(), 6u);
  for (const std::string& drawing : numbers.drawings) {
    EXPECT_TRUE(drawing.starts_with("<svg ")) << drawing;
    EXPECT_TRUE(drawing.ends_with("</svg>"));
    EXPECT_LT(drawing.size(), 3000u);
  }
  EXPECT_NE(numbers.drawings[5].find(">C</text>"), std::string::npos) << numbers.drawings[5];
  EXPECT_NE(numbers.drawings[5].find(">l</text>"), std::string::npos);

  const EmbeddingMap classes = make_map(random_rows(6, 3), molecules(smiles, {0, 1, 1, 0, 1, 0}), {});
  EXPECT_FALSE(classes.ordered);
  EXPECT_EQ(classes.groups, (std::vector<std::string>{"0", "1"}));

  MapOptions small;
  small.drawing_bytes = 1000;
  const EmbeddingMap some = make_map(random_rows(6, 3), molecules(smiles, {0, 1, 1, 0, 1, 0}), small);
  ASSERT_EQ(some.notes.size(), 1u);
  EXPECT_NE(some.notes[0].find("of 6 molecules are drawn"), std::string::npos);
}

TEST(MapFile, GoesThereAndBackAndRefusesOthers) {
  const test::TempDir dir;
  const EmbeddingMap map = make_map(random_rows(20, 5), star(20), {});
  write_map(dir / "map.json", map);
  const EmbeddingMap back = read_map(dir / "map.json");
  EXPECT_EQ(back.ids, map.ids);
  EXPECT_EQ(back.group, map.group);
  EXPECT_EQ(back.groups, map.groups);
  EXPECT_EQ(back.total, map.total);
  EXPECT_EQ(back.projections[1].y, map.projections[1].y);
  EXPECT_EQ(back.projections[0].note, map.projections[0].note);
  const std::string text = test::slurp(dir / "map.json");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return dir.write("other.json", other);
  };
  EXPECT_DATA_ERROR(read_map(changed("\"version\":1", "\"version\":2")), "newer version");
  EXPECT_DATA_ERROR(read_map(changed("\"group\":[", "\"group\":[0,")), "`group` does not number `ids`");
  EXPECT_DATA_ERROR(read_map(changed("\"group\":[", "\"group\":[-")), "other.json: ");
  EXPECT_DATA_ERROR(read_map(dir.write("x.json", "{}")), "x.json: is not a map");
}

}  // namespace
}  // namespace graphpae
