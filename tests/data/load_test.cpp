// Every readable form, from small files made here.
#include "graphpae/data/load.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graphpae/data/directory_form.h"
#include "graphpae/data/generate.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/npy.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

template <class T>
ZipEntry entry(const std::string& name, const std::vector<T>& values, std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return {name + ".npy", npy_bytes<T>(values, shape)};
}

std::string npz(const TempDir& dir, const std::string& name, const std::vector<ZipEntry>& entries) {
  std::filesystem::create_directories(std::filesystem::path(dir / name).parent_path());
  write_zip(dir / name, entries);
  return dir / name;
}

// A path 0-1-2-3 with 2 features, 2 classes and a split, as each form writes it.
void expect_path(const Dataset& data, bool labels = true) {
  ASSERT_TRUE(data.is_graph());
  const Graph& graph = data.graph();
  EXPECT_EQ(graph.num_nodes(), 4);
  EXPECT_EQ(graph.adjacency().num_edges(), 3);
  EXPECT_EQ(graph.adjacency().row(1)[1], 2);
  if (!labels) return;
  EXPECT_EQ(graph.labels(), (std::vector<int32_t>{0, 1, 0, kUnlabelled}));
  EXPECT_EQ(graph.features().columns(), 2);
  EXPECT_EQ(graph.features().nonzeros(), 4);
  ASSERT_EQ(graph.splits().size(), 1u);
  EXPECT_EQ(graph.splits()[0], (Split{{0}, {1}, {2}}));
}

const std::vector<ZipEntry> kCsrFeatures = {entry<float>("data", {1, 1, 1, 1}), entry<int32_t>("indices", {0, 1, 0, 1}),
                                            entry<int32_t>("indptr", {0, 1, 2, 3, 4}), entry<int64_t>("shape", {4, 2})};
const std::vector<ZipEntry> kSplits = {entry<int32_t>("train_0", {0}), entry<int32_t>("val_0", {1}),
                                       entry<int32_t>("test_0", {2})};

void write_directory_form(const TempDir& dir) {
  dir.write("edges.csv", "src,dst\n0,1\n1,2\n2,3\n3,2\n");
  npz(dir, "features.npz", kCsrFeatures);
  const std::vector<int64_t> labels = {0, 1, 0, -1};
  dir.write("labels.npy", npy_bytes<int64_t>(labels, {4}));
  npz(dir, "splits.npz", kSplits);
}

TEST(Load, OurDirectory) {
  const TempDir dir;
  write_directory_form(dir);
  expect_path(load(dir.path()));
}

TEST(Load, OurDirectoryWithTextFiles) {
  const TempDir dir;
  dir.write("edges.csv.gz", gzip_bytes("src,dst\n0,1\n1,2\n2,3\n"));
  dir.write("features.csv.gz", gzip_bytes("f0,f1\n1,0\n0,1\n1,0\n0,1\n"));
  dir.write("labels.csv", "label\n0\n1\n0\n\n");
  npz(dir, "splits.npz", kSplits);
  expect_path(load(dir.path()));
}

TEST(Load, OurDirectoryWithNamedClasses) {
  const TempDir dir;
  dir.write("edges.csv", "src,dst\n0,1\n1,2\n2,3\n");
  dir.write("labels.csv", "label\ncat\ndog\ncat\n\n");
  const Dataset data = load(dir.path());
  EXPECT_EQ(data.graph().labels(), (std::vector<int32_t>{0, 1, 0, -1}));
  EXPECT_EQ(data.graph().class_names(), (std::vector<std::string>{"cat", "dog"}));
}

TEST(Load, DirectoryFormKeepsEverything) {
  const TempDir dir;
  GenerateOptions options;
  options.nodes = 300;
  options.edges = 1500;
  options.isolated = 3;
  const Graph graph = generate(options, Threads{2});
  write_directory(dir / "out", graph, false);
  const Dataset again = load(dir / "out");
  EXPECT_EQ(content_hash(again.graph()), content_hash(graph));
  EXPECT_USAGE_ERROR(write_directory(dir / "out", graph, false), "--force");
  EXPECT_NO_THROW(write_directory(dir / "out", graph, true));
  EXPECT_EQ(content_hash(load(dir / "out").graph()), content_hash(graph));
}

TEST(Load, DirectoryFormKeepsNamesClassesAndIsolatedNodes) {
  const TempDir dir;
  GraphParts parts;
  parts.num_nodes = 3;
  parts.edges.push_back({Edge{0, 1}});
  parts.labels = {1, kUnlabelled, 0};
  parts.class_names = {"a, b", "c", "never seen"};
  for (const char* name : {"x", "y \"z\"", "w"}) parts.node_names.push_back(name);
  write_directory(dir / "named", Graph(std::move(parts)), false);
  const Dataset named = load(dir / "named");
  EXPECT_EQ(named.graph().node_name(1), "y \"z\"");
  EXPECT_EQ(named.graph().class_names()[0], "a, b");
  EXPECT_EQ(named.graph().num_classes(), 3);

  GraphParts bare;
  bare.num_nodes = 5;
  bare.edges.push_back({Edge{0, 1}});
  write_directory(dir / "bare", Graph(std::move(bare)), false);
  EXPECT_EQ(load(dir / "bare").graph().num_nodes(), 5);
  EXPECT_TRUE(load(dir / "bare").graph().node_names().empty());
}

TEST(Load, EdgeListWithFiles) {
  const TempDir dir;
  LoadOptions options;
  options.features = npz(dir, "x.npz", kCsrFeatures);
  options.labels = dir.write("y.csv", "node,label\n3,\n1,1\n0,0\n2,0\n");
  options.splits = npz(dir, "s.npz", kSplits);
  expect_path(load(dir.write("e.tsv", "0\t1\n1\t2\n2\t3\n"), options));
  // Nodes without edges are known through their features.
  EXPECT_EQ(load(dir.write("f.tsv", "0\t1\n"), options).graph().num_nodes(), 4);
}

TEST(Load, EdgeListWithNamedNodes) {
  const TempDir dir;
  LoadOptions options;
  options.features = dir.write("x.csv", "id,a,b\nbob,0,1\nalice,1,0\ncarol,2,2\n");
  options.labels = dir.write("y.csv", "carol,red\nalice,blue\n");
  const Dataset data = load(dir.write("e.csv", "alice,bob\nbob,carol\n"), options);
  const Graph& graph = data.graph();
  EXPECT_EQ(graph.node_name(0), "alice");
  EXPECT_EQ(graph.features().dense_row(0)[0], 1.0f);
  EXPECT_EQ(graph.features().dense_row(2)[1], 2.0f);
  EXPECT_EQ(graph.labels(), (std::vector<int32_t>{0, kUnlabelled, 1}));
  options.labels = dir.write("z.csv", "dave,red\n");
  EXPECT_DATA_ERROR(load(dir / "e.csv", options), "z.csv: there is no node 'dave' among the edges");
}

TEST(Load, NpzOfNamedArrays) {
  const TempDir dir;
  const std::vector<ZipEntry> entries = {entry<int64_t>("edges", {0, 1, 1, 2, 2, 3}, {3, 2}),
                                         entry<float>("node_features", {1, 0, 0, 1, 1, 0, 0, 1}, {4, 2}),
                                         entry<int64_t>("node_labels", {0, 1, 0, -1}),
                                         entry<uint8_t>("train_masks", {1, 0, 0, 0}, {1, 4}),
                                         entry<uint8_t>("val_masks", {0, 1, 0, 0}, {1, 4}),
                                         entry<uint8_t>("test_masks", {0, 0, 1, 0}, {1, 4})};
  expect_path(load(npz(dir, "g.npz", entries)));
  EXPECT_DATA_ERROR(load(npz(dir, "n.npz", {entry<int64_t>("nothing", {1})})),
                    "n.npz: no graph in its arrays (nothing)");
}

TEST(Load, ScipyMatrices) {
  const TempDir dir;
  const auto format = [](const std::string& name) {
    std::string header = "{'descr': '|S3', 'fortran_order': False, 'shape': (), }\n";
    std::string bytes("\x93NUMPY\1\0", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    return ZipEntry{"format.npy", bytes + header + name};
  };
  const auto shape = entry<int64_t>("shape", {4, 4});
  const auto ones = entry<double>("data", {1, 1, 1});
  // 0-1, 1-2, 2-3, each once: as rows, as columns and as triples.
  expect_path(load(npz(dir, "csr.npz",
                       {format("csr"), shape, ones, entry<int32_t>("indices", {1, 2, 3}),
                        entry<int32_t>("indptr", {0, 1, 2, 3, 3})})),
              false);
  expect_path(load(npz(dir, "csc.npz",
                       {format("csc"), shape, ones, entry<int32_t>("indices", {0, 1, 2}),
                        entry<int32_t>("indptr", {0, 0, 1, 2, 3})})),
              false);
  expect_path(
      load(npz(dir, "coo.npz",
               {format("coo"), shape, ones, entry<int32_t>("row", {0, 1, 2}), entry<int32_t>("col", {1, 2, 3})})),
      false);
  EXPECT_DATA_ERROR(load(npz(dir, "d.npz", {format("dia"), shape, ones, entry<int32_t>("indptr", {0})})),
                    "'dia' is not supported");
  EXPECT_DATA_ERROR(
      load(npz(dir, "o.npz",
               {shape, ones, entry<int32_t>("indices", {1, 2, 9}), entry<int32_t>("indptr", {0, 1, 2, 3, 3})})),
      "array 'indices': index 9 at position 2 is outside 0..3");
  EXPECT_DATA_ERROR(
      load(npz(dir, "p.npz",
               {shape, ones, entry<int32_t>("indices", {1, 2, 3}), entry<int32_t>("indptr", {0, 2, 1, 3, 3})})),
      "not ascending");
  EXPECT_DATA_ERROR(load(npz(dir, "q.npz",
                             {entry<int64_t>("shape", {4, 5}), ones, entry<int32_t>("indices", {1, 2, 3}),
                              entry<int32_t>("indptr", {0, 1, 2, 3, 3})})),
                    "must be square, this one is 4 x 5");
}

TEST(Load, MatrixMarket) {
  const TempDir dir;
  expect_path(
      load(dir.write("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n% comment\n4 4 3\n2 1\n3 2\n4 3\n")),
      false);
  expect_path(
      load(dir.write("b.mtx.gz",
                     gzip_bytes("%%MatrixMarket matrix coordinate real general\n4 4 3\n2 1 0.5\n3 2 1e-3\n4 3 -1\n"))),
      false);
  EXPECT_DATA_ERROR(load(dir.write("c.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 3\n2 1\n3 2\n")),
                    "2 entries were found, 3 announced");
  EXPECT_DATA_ERROR(load(dir.write("d.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 1\n5 1\n")),
                    "d.mtx:3: node 5 is outside 1..4");
  EXPECT_DATA_ERROR(load(dir.write("e.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 1\n0 1\n")),
                    "e.mtx:3: node number 0 is below 1");
  EXPECT_DATA_ERROR(load(dir.write("f.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n")), "'coordinate'");
  EXPECT_DATA_ERROR(load(dir.write("g.mtx", "%%MatrixMarket matrix coordinate real general\n4 3 0\n")),
                    "must be square");
  EXPECT_DATA_ERROR(load(dir.write("h.mtx", "hello\n")), "h.mtx:1: expected `%%MatrixMarket");
  EXPECT_DATA_ERROR(load(dir.write("i.mtx", "%%MatrixMarket matrix coordinate real general\n")),
                    "the line of sizes is missing");
}

TEST(Load, GeomGcn) {
  const TempDir dir;
  dir.write("out1_graph_edges.txt", "node_id\tnode_id\n0\t1\n1\t2\n2\t3\n");
  dir.write("out1_node_feature_label.txt", "node_id\tfeature\tlabel\n1\t0,1\t1\n0\t1,0\t0\n2\t1,0\t0\n3\t0,1\t-1\n");
  for (const char* place : {"a_split_0.6_0.2_0.npz", "splits/a_split_0.6_0.2_0.npz"}) {
    npz(dir, place,
        {entry<uint8_t>("train_mask", {1, 0, 0, 0}), entry<uint8_t>("val_mask", {0, 1, 0, 0}),
         entry<uint8_t>("test_mask", {0, 0, 1, 0})});
    expect_path(load(dir.path()));
    std::filesystem::remove(dir / place);
  }
}

TEST(Load, GeomGcnWithListedFeatures) {
  const TempDir dir;
  dir.write("out1_graph_edges.txt", "node_id\tnode_id\n0\t1\n1\t2\n2\t3\n");
  dir.write("out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t5,2,5\t0\n1\t0\t1\n2\t1,2\t0\n3\t\t1\n");
  const Dataset data = load(dir.path());
  EXPECT_EQ(data.graph().features().columns(), 6);
  EXPECT_EQ(data.graph().features().nonzeros(), 5);  // the repeated 5 is one
  EXPECT_EQ(data.graph().features().values()[1], 1.0f);
  dir.write("out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t1\t0\n0\t1\t0\n");
  EXPECT_DATA_ERROR(load(dir.path()), "out1_node_feature_label.txt:3: a second line for node 0");
  dir.write("out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t1\n");
  EXPECT_DATA_ERROR(load(dir.path()), ":2: 2 columns");
  dir.write("out1_node_feature_label.txt", "node_id\tfeature\tlabel\n1\t1\t0\n");
  EXPECT_DATA_ERROR(load(dir.path()), "no line for node 0");
}

TEST(Load, OgbNodes) {
  const TempDir dir;
  dir.write("raw/edge.csv.gz", gzip_bytes("0,1\n1,2\n2,3\n"));
  dir.write("raw/num-node-list.csv.gz", gzip_bytes("4\n"));
  dir.write("raw/num-edge-list.csv.gz", gzip_bytes("3\n"));
  dir.write("raw/node-feat.csv.gz", gzip_bytes("1,0\n0,1\n1.0,0\n0,1e0\n"));
  dir.write("raw/node-label.csv.gz", gzip_bytes("0\n1\n0\nnan\n"));
  dir.write("split/time/train.csv.gz", gzip_bytes("0\n"));
  dir.write("split/time/valid.csv.gz", gzip_bytes("1\n"));
  dir.write("split/time/test.csv.gz", gzip_bytes("2\n"));
  expect_path(load(dir.path()));
  dir.write("raw/node_year.csv.gz", gzip_bytes("2001\n2002\n2003\n2004\n"));
  LoadOptions options;
  options.year_classes = 2;
  EXPECT_EQ(load(dir.path(), options).graph().labels(), (std::vector<int32_t>{0, 0, 1, 1}));
  dir.write("raw/node-feat.csv.gz", gzip_bytes("1,0\n0\n"));
  EXPECT_DATA_ERROR(load(dir.path()), "node-feat.csv.gz:2: 1 columns, expected 2");
  dir.write("raw/node-feat.csv.gz", gzip_bytes("1,0\n0,1\n1,nan\n0,1\n"));
  EXPECT_DATA_ERROR(load(dir.path()), "node-feat.csv.gz: row 2, column 1");
}

TEST(Load, OgbGraphs) {
  const TempDir dir;
  dir.write("raw/edge.csv.gz", gzip_bytes("0,1\n1,2\n0,1\n"));
  dir.write("raw/num-node-list.csv.gz", gzip_bytes("3\n2\n1\n"));
  dir.write("raw/num-edge-list.csv.gz", gzip_bytes("2\n1\n0\n"));
  dir.write("raw/node-feat.csv.gz", gzip_bytes("5,0\n5,1\n7,0\n5,0\n5,0\n8,0\n"));
  dir.write("raw/edge-feat.csv.gz", gzip_bytes("0\n1\n3\n"));
  dir.write("raw/graph-label.csv.gz", gzip_bytes("1,0.5\n,2\n0,\n"));
  dir.write("mapping/mol.csv.gz", gzip_bytes("first,second,smiles,mol_id\n1,0.5,CCO,m1\n,2,CC ,m2\n0,,O,m3\n"));
  dir.write("split/scaffold/train.csv.gz", gzip_bytes("0\n"));
  dir.write("split/scaffold/valid.csv.gz", gzip_bytes("1\n"));
  dir.write("split/scaffold/test.csv.gz", gzip_bytes("2\n"));
  const Dataset data = load(dir.path());
  ASSERT_FALSE(data.is_graph());
  const GraphSetParts& parts = data.graph_set().parts();
  EXPECT_EQ(parts.num_graphs, 3);
  EXPECT_EQ(parts.task_names, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(parts.targets[1], 0.5);
  EXPECT_TRUE(std::isnan(parts.targets[2]));
  EXPECT_EQ(parts.texts[1], "CC");
  EXPECT_EQ(parts.node_codes.columns, 2);
  EXPECT_EQ(parts.splits[0].test[0], 2);
  dir.write("raw/num-edge-list.csv.gz", gzip_bytes("2\n2\n0\n"));
  EXPECT_DATA_ERROR(load(dir.path()), "edge");
}

TEST(Load, MoleculeDirectory) {
  const TempDir dir;
  dir.write("molecules.csv.gz", gzip_bytes("smiles,a,b\nCCO,1,\nCC,0,2.5\n[Na+].[Cl-],,3\n"));
  dir.write("split/train.csv.gz", gzip_bytes("0\n"));
  dir.write("split/valid.csv.gz", gzip_bytes("1\n"));
  dir.write("split/test.csv", "2\n");
  npz(dir, "graphs.npz",
      {entry<int32_t>("num_nodes", {3, 2, 2}), entry<int32_t>("num_bonds", {2, 1, 0}),
       entry<int32_t>("bonds", {0, 1, 1, 2, 0, 1}, {3, 2}),
       entry<uint8_t>("atom_feat", {5, 5, 7, 5, 5, 10, 16}, {7, 1}), entry<uint8_t>("bond_feat", {0, 0, 0}, {3, 1})});
  const Dataset data = load(dir.path());
  const GraphSetSummary summary = summarise(data.graph_set());
  EXPECT_EQ(summary.molecules, 3);
  EXPECT_EQ(summary.fragmented, 1);
  EXPECT_EQ(summary.nodes, 7);
  EXPECT_TRUE(summary.tasks[0].binary);
  EXPECT_EQ(summary.tasks[0].positives, 1);
  EXPECT_EQ(summary.tasks[1].present, 2);

  write_directory(dir / "copy", data.graph_set(), false);
  EXPECT_EQ(content_hash(load(dir / "copy").graph_set()), content_hash(data.graph_set()));
  EXPECT_EQ(load(dir / "copy").graph_set().num_edges(), 3);
  LoadOptions options;
  options.tasks = {"b"};
  EXPECT_EQ(load(dir.path(), options).graph_set().parts().task_names, (std::vector<std::string>{"b"}));

  dir.write("split/test.csv", "1\n");
  EXPECT_DATA_ERROR(load(dir.path()), "split: split 0: id 1 is in both val and test");
  dir.write("split/test.csv", "x\n");
  EXPECT_DATA_ERROR(load(dir.path()), "test.csv:1: 'x' is not a row number");
  dir.write("molecules.csv.gz", gzip_bytes("smiles,a\nCCO,yes\n"));
  EXPECT_DATA_ERROR(load(dir.path()), "molecules.csv.gz:2: column 'a': 'yes' is not a number");
}

TEST(Load, BadDirectories) {
  const TempDir dir;
  std::filesystem::create_directory(dir / "empty");
  EXPECT_DATA_ERROR(load(dir / "empty"), "no edges.csv, molecules.csv");
  EXPECT_DATA_ERROR(load(dir / "missing"), "no such file or directory");
  EXPECT_DATA_ERROR(load(dir.write("x.pdf", "")), "unknown kind of file");
  EXPECT_DATA_ERROR(load(dir.write("e.csv", "src,dst\n")), "e.csv: the graph has no nodes");
  EXPECT_DATA_ERROR(load(dir.write("bare/edges.csv", "src,dst\n").substr(0, dir.path().size() + 5)),
                    "the graph is empty");
}

TEST(Load, BadPartsOfADirectory) {
  const TempDir dir;
  write_directory_form(dir);
  const auto expect = [&](const char* part) { EXPECT_DATA_ERROR(load(dir.path()), part); };
  const std::vector<int64_t> few = {0, 1};
  dir.write("labels.npy", npy_bytes<int64_t>(few, {2}));
  expect("labels.npy: 2 labels for 4 nodes (counted by features.npz)");
  const std::vector<double> fractions = {0, 1, 0.5, 1};
  dir.write("labels.npy", npy_bytes<double>(fractions, {4}));
  expect("labels.npy: position 2: 0.5 is not a class");
  write_directory_form(dir);
  npz(dir, "splits.npz", {kSplits[0], kSplits[1], entry<int32_t>("test_0", {0})});
  expect("splits.npz: split 0: id 0 is in both train and test");
  npz(dir, "splits.npz", {kSplits[0], kSplits[1], entry<int32_t>("test_0", {7})});
  expect("splits.npz: split 0: test id 7 is outside 0..3");
  npz(dir, "splits.npz", {kSplits[0]});
  expect("splits.npz: has train_0 but not val_0 and test_0");
  write_directory_form(dir);
  dir.write("edges.csv", "src,dst\n0,1\n1,4\n");
  expect("edges.csv:3: node 4 is outside 0..3");
  write_directory_form(dir);
  npz(dir, "features.npz", {entry<float>("data", {1, NAN, 1, 1}), kCsrFeatures[1], kCsrFeatures[2], kCsrFeatures[3]});
  expect("features.npz: row 1, column 1: the value nan is not finite");
  npz(dir, "features.npz", {entry<float>("features", {1, 2, 3, 4, 5, INFINITY, 7, 8}, {4, 2})});
  expect("features.npz: row 2, column 1: the value inf is not finite");
  std::filesystem::remove(dir / "features.npz");
  dir.write("features.csv", "a,b\n1,2\n3,nan\n1,1\n1,1\n");
  expect("features.csv:3: column 2: nan is not finite");
  dir.write("features.csv", "a,b\n1,2\n3\n");
  expect("features.csv:3: 1 columns, expected 2");
}

}  // namespace
}  // namespace graphpae
