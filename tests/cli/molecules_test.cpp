// Molecules from outside: what info and convert say and write, and what they refuse.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/npy.h"
#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_failure;
using test::Outcome;
using test::run;
using test::TempDir;

json info_of(const TempDir& dir, const std::string& arguments) {
  const Outcome outcome = run(dir, "info " + arguments + " --json");
  EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
  return json::parse(outcome.out);
}

// Ten molecules, four of them with a ring of benzene, and a row that is none.
void write_ten(const TempDir& dir) {
  dir.write("ten.csv",
            "smiles,t\nCCO,1\nCc1ccccc1,2\nCN,3\nOc1ccccc1,4\nC1CCCC1,5\nN,6\nc1ccccc1N,7\nO,8\nC1CC1,9\n"
            "Clc1ccccc1,10\nCC(,11\n");
}

TEST(MoleculesCli, InfoCountsAtomsBondsAndInvalidRows) {
  const TempDir dir;
  dir.write("m.csv", "smiles,t\nCCO,1\nCC(,\nCC,\nc1cccc1,3\n");
  const json info = info_of(dir, "m.csv");
  EXPECT_EQ(info["molecules"], 2);
  EXPECT_EQ(info["tasks"], 1);
  EXPECT_EQ(info["invalid"], 2);
  EXPECT_EQ(info["mean_atoms"], 2.5);
  EXPECT_EQ(info["mean_bonds"], 1.5);
  EXPECT_EQ(info["atom_codes"], 9);
  const json kept = info_of(dir, "m.csv --on-invalid nan --featurizer transfer");
  EXPECT_EQ(kept["molecules"], 4);
  EXPECT_EQ(kept["invalid"], 2);
  EXPECT_EQ(kept["mean_atoms"], 2.5);
  EXPECT_EQ(kept["atom_codes"], 2);
  EXPECT_EQ(kept["bond_codes"], 2);

  const Outcome text = run(dir, "info m.csv");
  EXPECT_NE(text.out.find("  invalid      2 rows, left out\n"), std::string::npos) << text.out;
  EXPECT_EQ(
      text.err,
      "note: m.csv: 2 of 4 molecules are not valid SMILES and were left out: lines 3, 5 (first: 'CC(': the syntax "
      "is wrong)\n");
  EXPECT_NE(run(dir, "info m.csv --on-invalid nan").out.find("  invalid      2 rows, kept without atoms\n"),
            std::string::npos);
}

TEST(MoleculesCli, BadInput) {
  const TempDir dir;
  dir.write("m.csv", "smiles,t\nCCO,1\nCC(,2\n");
  expect_failure(dir, "info m.csv --on-invalid fail", 3, "m.csv:3: 'CC(' is not a valid SMILES: the syntax is wrong");
  expect_failure(dir, "info m.csv --smiles-column Smile", 3,
                 "m.csv:1: no column 'Smile' among smiles, t (did you mean 'smiles'?)");
  dir.write("words.csv", "smiles,t\nCCO,high\n");
  expect_failure(dir, "info words.csv --tasks t", 3, "words.csv:2: column 't': 'high' is not a number");
  dir.write("empty.csv", "");
  expect_failure(dir, "info empty.csv", 3, "empty.csv: the file is empty");
  dir.write("empty.csv.gz", gzip_bytes(""));
  expect_failure(dir, "info empty.csv.gz --smiles-column s", 3, "empty.csv.gz: the file is empty");
  dir.write("header.csv", "smiles,t\n");
  expect_failure(dir, "info header.csv", 3, "header.csv: holds no molecules");
  dir.write("none.csv", "smiles\nhello\nworld(\n");
  expect_failure(dir, "info none.csv", 3, "none.csv:2: 'hello' is not a valid SMILES: ");
  expect_failure(dir, "info m.csv --featurizer obg", 2, "'obg' is not one of ogb|transfer (did you mean 'ogb'?)");
  expect_failure(dir, "info m.csv --on-invalid drop", 2, "'drop' is not one of fail|skip|nan");
  expect_failure(dir, "convert m.csv -o d --split scafold", 2, "--split scafold: expected scaffold or random:80/10/10");
  expect_failure(dir, "convert m.csv -o d --split random:80/10", 2, "'80/10': expected percent of train/val/test");
  expect_failure(dir, "convert m.csv -o d --split random:80/10/10", 3, "m.csv: ");
  dir.write("e.csv", "0,1\n1,2\n");
  expect_failure(dir, "convert e.csv -o d --split scaffold", 2, "--split scaffold is for molecules");
  EXPECT_FALSE(fs::exists(dir / "d"));
}

TEST(MoleculesCli, ConvertWritesGraphs) {
  const TempDir dir;
  dir.write("m.csv", "smiles,t\nCCO,1\nCC(,2\nF/C=C/F,\n");
  const Outcome made = run(dir, "convert m.csv -o m --featurizer transfer --on-invalid nan --json");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(json::parse(made.out)["invalid"], 1);
  const NpzFile file(dir / "m/graphs.npz");
  EXPECT_EQ(file.read("num_nodes").to_int32(), (std::vector<int32_t>{3, 0, 4}));
  EXPECT_EQ(file.read("num_bonds").to_int32(), (std::vector<int32_t>{2, 0, 3}));
  EXPECT_EQ(file.read("bonds").to_int32(), (std::vector<int32_t>{0, 1, 1, 2, 0, 1, 1, 2, 2, 3}));
  EXPECT_EQ(file.read("atom_feat").to_int32(), (std::vector<int32_t>{5, 0, 5, 0, 7, 0, 8, 0, 5, 0, 5, 0, 8, 0}));
  EXPECT_EQ(file.read("atom_feat").shape, (std::vector<int64_t>{7, 2}));
  EXPECT_EQ(file.read("bond_feat").to_int32(), (std::vector<int32_t>{0, 0, 0, 0, 0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(read_file(dir / "m/molecules.csv.gz"), "smiles,t\nCCO,1\nCC(,2\nF/C=C/F,\n");
  EXPECT_FALSE(fs::exists(dir / "m/split"));

  const json again = info_of(dir, "m --on-invalid nan");
  EXPECT_EQ(again["content_sha256"], json::parse(made.out)["content_sha256"]);
  EXPECT_EQ(again["invalid"], 1);
  EXPECT_EQ(again["atom_codes"], 2);
  EXPECT_EQ(info_of(dir, "m")["molecules"], 2);
  EXPECT_EQ(info_of(dir, "m --featurizer ogb")["atom_codes"], 9);
}

TEST(MoleculesCli, ConvertSplits) {
  const TempDir dir;
  write_ten(dir);
  // Benzene 4, no ring 4, and two single rings, of which the later one is first in val.
  ASSERT_EQ(run(dir, "convert ten.csv -o s --split scaffold -q").code, 0);
  EXPECT_EQ(read_file(dir / "s/split/train.csv.gz"), "0\n1\n2\n3\n5\n6\n7\n9\n");
  EXPECT_EQ(read_file(dir / "s/split/valid.csv.gz"), "8\n");
  EXPECT_EQ(read_file(dir / "s/split/test.csv.gz"), "4\n");

  ASSERT_EQ(run(dir, "convert ten.csv -o r --split random:60/20/20 --on-invalid nan -q").code, 0);
  ASSERT_EQ(run(dir, "convert s -o q --split random:60/20/20 --split-seed 1 -q").code, 0);
  EXPECT_EQ(info_of(dir, "r --on-invalid nan")["split_sizes"], json::parse("[[6, 2, 2]]"));
  EXPECT_EQ(info_of(dir, "q")["split_sizes"], json::parse("[[6, 2, 2]]"));
  for (const char* part : {"train", "valid", "test"}) {
    const std::string ids = read_file(dir / "r/split/" + std::string(part) + ".csv.gz");
    EXPECT_EQ(ids.find("10"), std::string::npos) << "the row that is no molecule is in " << part;
  }
  EXPECT_NE(read_file(dir / "r/split/train.csv.gz"), read_file(dir / "q/split/train.csv.gz"));
}

TEST(MoleculesCli, ConvertSdFiles) {
  const TempDir dir;
  const std::string block =
      "ethanol\n  test\n\n  3  2  0  0  0  0  0  0  0  0999 V2000\n    2.0000    0.0000    0.0000 O   0  0\n"
      "    0.0000    0.0000    0.0000 C   0  0\n    1.0000    0.5000    0.0000 C   0  0\n  2  3  1  0\n"
      "  3  1  1  0\nM  END\n> <t>\n2.5\n\n$$$$\n";
  dir.write("m.sdf", block + "broken\n$$$$\n");
  ASSERT_EQ(run(dir, "convert m.sdf -o m -q").code, 0);
  EXPECT_EQ(read_file(dir / "m/molecules.csv.gz"), "smiles,t\nCCO,2.5\n");
  const std::vector<int32_t> atoms = NpzFile(dir / "m/graphs.npz").read("atom_feat").to_int32();
  EXPECT_EQ(atoms.at(0), 5) << "atoms in the order of the SMILES";
  EXPECT_EQ(atoms.at(18), 7);
  expect_failure(dir, "convert m.sdf -o n --on-invalid fail", 3,
                 "m.sdf: record 2: the record is not a valid mol block");
}

TEST(MoleculesCli, TheCacheIsKeptWhereItIsWished) {
  const TempDir dir;
  write_ten(dir);
  const std::string cache = "env GRAPHPAE_CACHE='" + (dir / "cache") + "'";
  const Outcome first = run(dir, "info ten.csv --json", cache);
  ASSERT_EQ(first.code, 0) << first.err;
  ASSERT_TRUE(fs::exists(dir / "cache"));
  EXPECT_FALSE(fs::is_empty(dir / "cache"));
  EXPECT_EQ(run(dir, "info ten.csv --json", cache).out, first.out);
  EXPECT_EQ(run(dir, "info ten.csv --json", "env GRAPHPAE_CACHE=").out, first.out);
  fs::remove_all(dir / "cache");
  EXPECT_EQ(run(dir, "positions ten.csv -k 3 -o p.npz --no-cache -q", cache).code, 0);
  EXPECT_FALSE(fs::exists(dir / "cache"));
}

TEST(MoleculesCli, PositionsOfSmiles) {
  const TempDir dir;
  dir.write("m.csv", "smiles\nCCO\nCC(\nc1ccccc1\n");
  for (const auto& [policy, graphs] : {std::pair{"skip", 2}, std::pair{"nan", 3}}) {
    const Outcome outcome = run(dir, "positions m.csv -k 3 -o p.npz --json --on-invalid " + std::string(policy));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const NpzFile file(dir / "p.npz");
    EXPECT_EQ(file.read("eigenvectors").shape, (std::vector<int64_t>{9, 3}));
    EXPECT_EQ(file.read("eigenvalues").shape, (std::vector<int64_t>{graphs, 3}));
  }
}

}  // namespace
}  // namespace graphpae
