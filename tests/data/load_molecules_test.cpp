// Molecules through load: tables, .smi and .sdf files, directories; what is not a molecule; the cache.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "graphpae/data/directory_form.h"
#include "graphpae/data/load.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/npy.h"
#include "tests/support/expect_error.h"
#include "tests/support/molecules.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using test::TempDir;
using Names = std::vector<std::string>;

std::vector<std::string> texts_of(const Dataset& data) {
  std::vector<std::string> texts;
  const GraphSetParts& parts = data.graph_set().parts();
  for (int64_t g = 0; g < parts.num_graphs; ++g) texts.emplace_back(parts.texts[g]);
  return texts;
}

// The graphs are those of the texts.
void expect_graphs(const Dataset& data, Featurizer featurizer = Featurizer::ogb) {
  const GraphSetParts& parts = data.graph_set().parts();
  test::expect_same_graphs(parts, parse_molecules(parts.texts, featurizer, Threads{1}));
}

LoadOptions with(OnInvalid policy) {
  LoadOptions options;
  options.on_invalid = policy;
  return options;
}

LoadOptions with(Featurizer featurizer) {
  LoadOptions options;
  options.featurizer = featurizer;
  return options;
}

// A table of molecules is not taken for an edge list because its column has another name.
TEST(LoadMolecules, ColumnsThatAreNotNamed) {
  const TempDir dir;
  EXPECT_ERROR(load(dir.write("t.csv", "id,mol,y\n1,CC(=O)O,0.5\n2,CCO,1\n3,C1CC1=O,2\n")), ErrorKind::data,
               "t.csv: column 'mol' holds SMILES; --smiles-column mol reads the table as molecules");
  EXPECT_ERROR(load(dir.write("u.tsv", "structure\tvalue\nC[N+](C)(C)C\t1\n")), ErrorKind::data, "column 'structure'");
  // Names of nodes that happen to be molecules, or that have brackets and are none.
  EXPECT_TRUE(load(dir.write("e.csv", "a,b\nC,CO\nCO,N\n")).is_graph());
  EXPECT_TRUE(load(dir.write("f.csv", "a,b\nf(x),g(x)\ng(x),h(x)\n")).is_graph());
}

TEST(LoadMolecules, TablesHaveTheirGraphs) {
  const TempDir dir;
  const Dataset data = load(dir.write("m.csv", "name,SMILES,sol,note\nm1,CCO,1.5,good\nm2,\"C[N+](C)(C)C\",,\n"));
  ASSERT_FALSE(data.is_graph());
  EXPECT_EQ(data.form, "SMILES table");
  EXPECT_EQ(data.invalid, 0);
  EXPECT_EQ(texts_of(data), (Names{"CCO", "C[N+](C)(C)C"}));
  EXPECT_EQ(data.graph_set().parts().task_names, (Names{"sol"}));
  EXPECT_EQ(data.graph_set().parts().targets[0], 1.5);
  EXPECT_TRUE(std::isnan(data.graph_set().parts().targets[1]));
  EXPECT_EQ(data.notes.size(), 2u);  // name and note are not numeric
  expect_graphs(data);
  expect_graphs(load(dir / "m.csv", with(Featurizer::transfer)), Featurizer::transfer);
  LoadOptions options;
  options.tasks = {"note"};
  EXPECT_DATA_ERROR(load(dir / "m.csv", options), "m.csv:2: column 'note': 'good' is not a number");
  options.tasks = {"sool"};
  EXPECT_DATA_ERROR(load(dir / "m.csv", options),
                    "no column 'sool' among name, SMILES, sol, note (did you mean 'sol'?)");
  options = {};
  options.smiles_column = "Smile";
  EXPECT_DATA_ERROR(load(dir / "m.csv", options),
                    "no column 'Smile' among name, SMILES, sol, note (did you mean 'SMILES'?)");
  options = {};
  options.features = dir / "f.npz";
  EXPECT_USAGE_ERROR(load(dir / "m.csv", options), "files of features and labels are for one graph");
  EXPECT_DATA_ERROR(load(dir.write("n.csv", "smiles,t\nCC,1\nCC\n")), "n.csv:3: 1 columns, expected 2");
  EXPECT_DATA_ERROR(load(dir.write("o.csv", "smiles,t\n")), "o.csv: holds no molecules");
  EXPECT_DATA_ERROR(load(dir.write("p.csv", "")), "p.csv: the file is empty");
}

// As tables come: other delimiters, line ends, quotes, blank lines, a byte order mark, gzip.
TEST(LoadMolecules, TablesOfAllKinds) {
  const TempDir dir;
  const Names expected = {"CCO", "c1ccccc1"};
  const auto expect = [&](const std::string& name, const std::string& content, const Names& tasks) {
    const Dataset data = load(dir.write(name, content));
    ASSERT_FALSE(data.is_graph()) << name << content;
    EXPECT_EQ(texts_of(data), expected) << content;
    EXPECT_EQ(data.graph_set().parts().task_names, tasks) << content;
  };
  expect("a.csv", "smiles,t\r\nCCO,1\r\n\r\nc1ccccc1,2\r\n\r\n", {"t"});
  expect("a.csv", "\xef\xbb\xbf\"Smiles\",\"t\"\n\"CCO\",\"1\"\n\"c1ccccc1\",2\n", {"t"});
  expect("a.csv", "smiles;t\nCCO;1\nc1ccccc1;2\n", {"t"});
  expect("a.csv", "t\tsmiles\n1\tCCO\n2\tc1ccccc1\n", {"t"});
  expect("a.tsv", "t\tsmiles\n1\tCCO\n2\tc1ccccc1\n", {"t"});
  expect("a.txt", "smiles t\nCCO 1\nc1ccccc1   2\n", {"t"});
  expect("a.csv", "smiles\nCCO\n\nc1ccccc1\n\n", {});
  expect("a.csv", "t,canonical_smiles\n1,CCO\n2,c1ccccc1\n", {"t"});
  expect("a.csv.gz", gzip_bytes("smiles,t\nCCO,1\nc1ccccc1,NaN\n"), {"t"});
  expect("a.txt", "CCO\nc1ccccc1\n", {});  // no header, one column: SMILES
  EXPECT_DATA_ERROR(load(dir.write("b.csv", "smiles_a,smiles_b\nC,C\n")),
                    "b.csv:1: several columns may hold SMILES: smiles_a, smiles_b; --smiles-column names one of them");
  EXPECT_TRUE(load(dir.write("b.txt", "0 1\n1 2\n")).is_graph());
  EXPECT_TRUE(load(dir.write("b.csv", "N,O\nO,C\n")).is_graph()) << "two columns of names are an edge list";
}

TEST(LoadMolecules, IdsAreNoTargets) {
  const TempDir dir;
  const Dataset data = load(dir.write("m.csv", ",mol_id,smiles,t,e,id_of_site,\n0,17,C,3,,1,\n1,12,CC,4,,2,\n"));
  EXPECT_EQ(data.graph_set().parts().task_names, (Names{"t", "id_of_site"}));
  ASSERT_EQ(data.notes.size(), 4u);
  EXPECT_NE(data.notes[1].find("column 'mol_id' holds ids, not targets, and is ignored"), std::string::npos);
  EXPECT_NE(data.notes[2].find("column 'e' has no values and is ignored"), std::string::npos);
  LoadOptions options;
  options.tasks = {"mol_id"};
  EXPECT_EQ(load(dir / "m.csv", options).graph_set().parts().targets, (std::vector<double>{17, 12}));
  // Values that repeat or have fractions are no ids, whatever their name.
  EXPECT_EQ(load(dir.write("n.csv", "id,smiles,mol_id\n1,C,0.5\n1,CC,1\n")).graph_set().num_tasks(), 2);
  EXPECT_EQ(load(dir.write("o.csv", "smiles,a,b,c\nC,NA,none,\nCC,1,NULL,n/a\nN,2,0,1\n")).graph_set().num_tasks(), 3);
}

TEST(LoadMolecules, SmiFiles) {
  const TempDir dir;
  const Dataset data = load(dir.write("m.smi", "SMILES name\n# comment\nCCO ethanol\r\n\nCC\tethane 2\nCC(\n"));
  EXPECT_EQ(data.form, "SMILES file");
  EXPECT_EQ(texts_of(data), (Names{"CCO", "CC"}));
  EXPECT_EQ(data.invalid, 1);
  EXPECT_NE(data.notes.at(0).find("m.smi: 1 of 3 molecules is not valid SMILES and was left out: line 6"),
            std::string::npos)
      << data.notes[0];
  expect_graphs(data);
  LoadOptions options;
  options.tasks = {"name"};
  EXPECT_USAGE_ERROR(load(dir / "m.smi", options), "a .smi file has no columns, and so no task 'name'");
  EXPECT_DATA_ERROR(load(dir.write("n.smi", "\n# nothing\n")), "n.smi: holds no molecules");
}

const char* const kPropanol =
    "propanol\n  test\n\n  4  3  0  0  0  0  0  0  0  0999 V2000\n"
    "    3.0000    0.0000    0.0000 O   0  0\n    0.0000    0.0000    0.0000 C   0  0\n"
    "    1.0000    0.5000    0.0000 C   0  0\n    2.0000    0.0000    0.0000 C   0  0\n"
    "  2  3  1  0\n  3  4  1  0\n  4  1  1  0\nM  END\n";
const char* const kNoAtoms = "mol\n  x\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n";

TEST(LoadMolecules, SdFiles) {
  const TempDir dir;
  const std::string block = kPropanol, tags = "> <logp>\n1.25\n\n> <name>\nfoo\n\n";
  const std::string path =
      dir.write("m.sdf", block + tags + "$$$$\n" + kNoAtoms + "$$$$\n" + block + ">  25  <CID>\n77\n\n$$$$\n");
  const Dataset data = load(path);
  EXPECT_EQ(data.form, "SD file");
  EXPECT_EQ(texts_of(data), (Names{block, block}));
  EXPECT_EQ(data.invalid, 1);
  EXPECT_EQ(data.graph_set().parts().task_names, (Names{"CID", "logp"})) << "a tag of some records is no id";
  EXPECT_EQ(data.graph_set().parts().targets[1], 1.25);
  EXPECT_TRUE(std::isnan(data.graph_set().parts().targets[3]));
  ASSERT_EQ(data.notes.size(), 2u);
  EXPECT_NE(data.notes[0].find("tags that are not numeric or hold ids are ignored: name"), std::string::npos);
  EXPECT_NE(data.notes[1].find("1 of 3 molecules is not valid mol blocks and was left out: record 2"),
            std::string::npos)
      << data.notes[1];
  expect_graphs(data);
  EXPECT_EQ(data.graph_set().parts().node_codes.values[0], 7) << "the oxygen comes first in the block";
  EXPECT_DATA_ERROR(load(path, with(OnInvalid::fail)),
                    "m.sdf: record 2: the record is not a valid mol block: there are no atoms");
  LoadOptions options;
  options.tasks = {"logP"};
  EXPECT_DATA_ERROR(load(path, options), "m.sdf: no tag 'logP' (did you mean 'logp'?)");
  options.tasks = {"name"};
  EXPECT_DATA_ERROR(load(path, options), "m.sdf: record 1: tag 'name': 'foo' is not a number");
  options.tasks = {"logp", "CID"};
  EXPECT_EQ(load(path, options).graph_set().parts().task_names, (Names{"logp", "CID"}));
  EXPECT_DATA_ERROR(load(dir.write("n.sdf", "mol\n")), "the last record has no M  END");
}

TEST(LoadMolecules, MolBlocksAsSmiles) {
  const TempDir dir;
  const std::string path = dir.write("m.sdf", std::string(kPropanol) + "$$$$\n" + kNoAtoms + "$$$$\n");
  LoadOptions options;
  options.as_smiles = true;
  for (const OnInvalid policy : {OnInvalid::skip, OnInvalid::nan}) {
    options.on_invalid = policy;
    const Dataset data = load(path, options);
    EXPECT_EQ(texts_of(data), policy == OnInvalid::skip ? Names{"CCCO"} : (Names{"CCCO", ""}));
    expect_graphs(data);  // in the order of the SMILES
    write_directory(dir / "out", data.graph_set(), true);
    const Dataset again = load(dir / "out", options);
    EXPECT_EQ(content_hash(again.graph_set()), content_hash(data.graph_set()));
    EXPECT_EQ(again.graph_set().num_graphs(), data.graph_set().num_graphs());
    expect_graphs(again);
  }
  EXPECT_DATA_ERROR(write_directory(dir / "no", load(path).graph_set(), false), "the directory form keeps SMILES");
}

TEST(LoadMolecules, RowsThatAreNone) {
  const TempDir dir;
  const std::string path = dir.write("m.csv", "smiles,t\nCCO,1\n\nCC(,2\nN,3\n,4\n");
  dir.write("m/molecules.csv", "smiles,t\nCCO,1\nCC(,2\nN,3\n\"\",4\n");
  dir.write("m/split/train.csv", "0\n1\n");
  dir.write("m/split/valid.csv", "2\n");
  dir.write("m/split/test.csv", "3\n");
  const std::vector<int32_t> train = {0, 1}, val = {2}, test = {3};
  write_zip(dir / "s.npz", {{"train_0.npy", npy_bytes<int32_t>(train, {2})},
                            {"val_0.npy", npy_bytes<int32_t>(val, {1})},
                            {"test_0.npy", npy_bytes<int32_t>(test, {1})}});

  EXPECT_DATA_ERROR(load(path, with(OnInvalid::fail)), "m.csv:4: 'CC(' is not a valid SMILES: the syntax is wrong");
  for (const std::string& source : {path, dir / "m"}) {
    LoadOptions options = with(OnInvalid::skip);
    if (source == path) options.splits = dir / "s.npz";
    const Dataset skipped = load(source, options);
    EXPECT_EQ(skipped.invalid, 2);
    EXPECT_EQ(texts_of(skipped), (Names{"CCO", "N"}));
    EXPECT_EQ(skipped.graph_set().parts().targets, (std::vector<double>{1, 3}));
    EXPECT_EQ(skipped.graph_set().parts().splits, (std::vector<Split>{{{0}, {1}, {}}}));
    expect_graphs(skipped);
    options.on_invalid = OnInvalid::nan;
    const Dataset kept = load(source, options);
    EXPECT_EQ(kept.invalid, 2);
    EXPECT_EQ(texts_of(kept), (Names{"CCO", "CC(", "N", ""}));
    EXPECT_EQ(kept.graph_set().parts().targets, (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ(kept.graph_set().parts().splits, (std::vector<Split>{{{0}, {2}, {}}}));
    expect_graphs(kept);
    const GraphSetSummary summary = summarise(kept.graph_set());
    EXPECT_EQ(summary.without_nodes, 2);
    EXPECT_EQ(summary.min_nodes, 1);
    EXPECT_EQ(summary.mean_nodes, 2);
    EXPECT_EQ(summary.mean_edges, 1);
  }
  dir.write("n.csv", "smiles\nCC(\nxyz\n");
  EXPECT_DATA_ERROR(load(dir / "n.csv"),
                    "n.csv:2: 'CC(' is not a valid SMILES: the syntax is wrong; so is every other");
  EXPECT_EQ(summarise(load(dir / "n.csv", with(OnInvalid::nan)).graph_set()).mean_nodes, 0);
}

// A directory written with rows that are not molecules is read like the table it came from.
TEST(LoadMolecules, StoredRowsWithoutAtoms) {
  const TempDir dir;
  const std::string path = dir.write("m.csv", "smiles\nCCO\nCC(\n\"\"\nN\n");
  write_directory(dir / "out", load(path, with(OnInvalid::nan)).graph_set(), false);
  ASSERT_TRUE(fs::exists(dir / "out/graphs.npz"));
  for (const OnInvalid policy : {OnInvalid::skip, OnInvalid::nan}) {
    const Dataset expected = load(path, with(policy)), found = load(dir / "out", with(policy));
    EXPECT_EQ(found.invalid, 2);
    EXPECT_EQ(texts_of(found), texts_of(expected));
    expect_graphs(found);
  }
  EXPECT_DATA_ERROR(load(dir / "out", with(OnInvalid::fail)),
                    "molecules.csv.gz:3: 'CC(' is not a valid SMILES: its graph has no atoms");
}

TEST(LoadMolecules, BrokenGraphs) {
  const TempDir dir;
  dir.write("molecules.csv", "smiles\nCC\nO\n");
  const auto write = [&](std::vector<int32_t> nodes, std::vector<int32_t> bonds) {
    const std::vector<int32_t> ends = {0, 1};
    const std::vector<uint8_t> atoms(2, 5), bond(1, 0);
    write_zip(dir / "graphs.npz", {{"num_nodes.npy", npy_bytes<int32_t>(nodes, {static_cast<int64_t>(nodes.size())})},
                                   {"num_bonds.npy", npy_bytes<int32_t>(bonds, {static_cast<int64_t>(bonds.size())})},
                                   {"bonds.npy", npy_bytes<int32_t>(ends, {1, 2})},
                                   {"atom_feat.npy", npy_bytes<uint8_t>(atoms, {2, 1})},
                                   {"bond_feat.npy", npy_bytes<uint8_t>(bond, {1, 1})}});
  };
  write({2, 0}, {1, 0});
  EXPECT_EQ(load(dir.path()).invalid, 1);
  write({0, 2}, {1, 0});
  EXPECT_DATA_ERROR(load(dir.path()), "graph 0: edge 0-1 is outside its 0 nodes");
  write({2, 0}, {1});
  EXPECT_DATA_ERROR(load(dir.path()), "'num_bonds': has 1 graphs, expected 2");
  write({2, 0, 0}, {1, 0});
  EXPECT_DATA_ERROR(load(dir.path()), "'num_nodes': has 3 graphs, expected 2");
}

TEST(LoadMolecules, AWishForOtherCodesHasGraphsMadeAnew) {
  const TempDir dir;
  const std::string path = dir.write("m.csv", "smiles\nCCO\nC[C@H](N)O\n");
  write_directory(dir / "out", load(path, with(Featurizer::transfer)).graph_set(), false);
  expect_graphs(load(dir / "out"), Featurizer::transfer);  // kept as they are
  expect_graphs(load(dir / "out", with(Featurizer::transfer)), Featurizer::transfer);
  expect_graphs(load(dir / "out", with(Featurizer::ogb)), Featurizer::ogb);
  // Kept means not made anew: graphs that are not those of the texts stay.
  fs::remove(dir / "out/molecules.csv.gz");
  dir.write("out/molecules.csv", "smiles\nN\nO\n");
  EXPECT_EQ(load(dir / "out", with(Featurizer::transfer)).graph_set().num_nodes(), 7);
  EXPECT_EQ(load(dir / "out", with(Featurizer::ogb)).graph_set().num_nodes(), 2);
}

TEST(LoadMolecules, OgbDirectories) {
  const TempDir dir;
  dir.write("raw/edge.csv", "0,1\n");
  dir.write("raw/num-node-list.csv", "2\n1\n");
  dir.write("raw/num-edge-list.csv", "1\n0\n");
  dir.write("raw/node-feat.csv", "1\n3\n2\n");
  dir.write("raw/edge-feat.csv", "1\n");
  dir.write("raw/graph-label.csv", "0\n1\n");
  const Dataset bare = load(dir.path(), with(Featurizer::transfer));
  EXPECT_EQ(bare.graph_set().parts().node_codes.columns, 1);
  EXPECT_EQ(bare.notes.size(), 1u) << "no SMILES to make other codes from";
  EXPECT_TRUE(load(dir.path()).notes.empty());
  dir.write("mapping/mol.csv", "t,smiles,mol_id\n0,CC,a\n1,C,b\n");
  const Dataset kept = load(dir.path());
  EXPECT_EQ(kept.graph_set().parts().node_codes.columns, 1);
  EXPECT_EQ(kept.graph_set().parts().task_names, (Names{"t"}));
  EXPECT_TRUE(kept.notes.empty());
  expect_graphs(load(dir.path(), with(Featurizer::transfer)), Featurizer::transfer);
  dir.write("raw/num-edge-list.csv", "1\n");
  EXPECT_DATA_ERROR(load(dir.path()), "edge offsets");
}

TEST(LoadMolecules, TheCacheIsUsed) {
  const TempDir dir;
  const std::string path = dir.write("m.csv", "smiles\nCCO\nCC(\nN\n");
  LoadOptions options;
  options.molecule_cache = dir / "cache";
  const Dataset first = load(path, options);
  const auto files = [&] { return std::distance(fs::directory_iterator(dir / "cache"), fs::directory_iterator()); };
  ASSERT_EQ(files(), 1);
  const fs::path file = fs::directory_iterator(dir / "cache")->path();
  const auto written = fs::last_write_time(file);
  const Dataset second = load(path, options);
  EXPECT_EQ(fs::last_write_time(file), written) << "found, not written again";
  EXPECT_EQ(second.notes, first.notes);
  EXPECT_EQ(second.invalid, 1);
  expect_graphs(second);
  options.featurizer = Featurizer::transfer;
  expect_graphs(load(path, options), Featurizer::transfer);
  EXPECT_EQ(files(), 2);
  options.molecule_cache = path;  // not a directory
  const Dataset without = load(path, options);
  EXPECT_EQ(without.notes.size(), 2u);
  EXPECT_NE(without.notes[0].find("the parsed molecules are not kept: "), std::string::npos) << without.notes[0];
}

}  // namespace
}  // namespace graphpae
