// Codes worked out by hand, what is not a molecule, the cache, and, with GRAPHPAE_TEST_DATA, every molecule of the
// benchmark sets.
#include "graphpae/data/chemistry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "graphpae/data/load.h"
#include "tests/support/molecules.h"

namespace graphpae {
namespace {

using test::column;
using test::expect_equal;
using test::parse;

using Row = std::vector<int>;
using Rows = std::vector<Row>;

Rows rows_of(const Codes& codes) {
  Rows rows;
  for (size_t i = 0; i < codes.values.size(); i += codes.columns)
    rows.emplace_back(codes.values.begin() + i, codes.values.begin() + i + codes.columns);
  return rows;
}

// The codes of one valid molecule.
Rows atoms(const std::string& text, Featurizer featurizer = Featurizer::ogb) {
  const ParsedMolecules m = parse({text}, featurizer);
  EXPECT_TRUE(m.invalid.empty()) << text;
  return rows_of(m.node_codes);
}
Rows bonds(const std::string& text, Featurizer featurizer = Featurizer::ogb) {
  const ParsedMolecules m = parse({text}, featurizer);
  EXPECT_TRUE(m.invalid.empty()) << text;
  return rows_of(m.edge_codes);
}

// A mol block of carbons on a zigzag line; `bond_lines` are "begin end type stereo", three columns each.
std::string carbon_block(int count, const std::vector<std::string>& bond_lines) {
  const auto padded = [](const std::string& text, size_t width) {
    return std::string(width - text.size(), ' ') + text;
  };
  std::string block = "\n  test\n\n" + padded(std::to_string(count), 3) + padded(std::to_string(bond_lines.size()), 3) +
                      "  0  0  0  0  0  0  0  0999 V2000\n";
  for (int i = 0; i < count; ++i) {
    block += padded(std::to_string(i) + ".0000", 10) + padded(i % 2 == 0 ? "0.0000" : "0.5000", 10) +
             "    0.0000 C   0  0\n";
  }
  for (const std::string& line : bond_lines) block += line + "\n";
  return block + "M  END\n";
}

// Columns: element, chirality, degree, charge, hydrogens, radical electrons, hybridisation, aromatic, ring.
TEST(Chemistry, EthanolAndBenzene) {
  EXPECT_EQ(atoms("CCO"),
            (Rows{{5, 0, 4, 5, 3, 0, 2, 0, 0}, {5, 0, 4, 5, 2, 0, 2, 0, 0}, {7, 0, 2, 5, 1, 0, 2, 0, 0}}));
  EXPECT_EQ(bonds("CCO"), (Rows{{0, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(atoms("c1ccccc1"), Rows(6, Row{5, 0, 3, 5, 1, 0, 1, 1, 1}));
  EXPECT_EQ(bonds("c1ccccc1"), Rows(6, Row{3, 0, 1}));
  // The bond that closes the ring comes last, from the atom that closes it.
  EXPECT_EQ(parse({"c1ccccc1"}).edges, (std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}));
  EXPECT_EQ(atoms("CCO", Featurizer::transfer), (Rows{{5, 0}, {5, 0}, {7, 0}}));
  EXPECT_EQ(bonds("c1ccccc1", Featurizer::transfer), Rows(6, Row{3, 0}));
}

TEST(Chemistry, StereoCentres) {
  EXPECT_EQ(atoms("C[C@H](N)O").at(1), (Row{5, 2, 4, 5, 1, 0, 2, 0, 0}));
  EXPECT_EQ(atoms("C[C@@H](N)O").at(1), (Row{5, 1, 4, 5, 1, 0, 2, 0, 0}));
  EXPECT_EQ(atoms("C[C@@H](N)O", Featurizer::transfer).at(1), (Row{5, 1}));
  EXPECT_EQ(atoms("C[C@H](C)O").at(1).at(1), 0) << "two equal neighbours: not a centre, whatever the text says";
  EXPECT_EQ(atoms("[C@SP1](F)(Cl)(Br)I").at(0).at(1), 4) << "square planar";
  EXPECT_EQ(atoms("[C@SP1](F)(Cl)(Br)I", Featurizer::transfer).at(0).at(1), 3);
}

// Bond columns: type, stereo, conjugated; or type, direction.
TEST(Chemistry, DoubleBonds) {
  EXPECT_EQ(bonds("F/C=C/F"), (Rows{{0, 0, 0}, {1, 2, 0}, {0, 0, 0}}));
  EXPECT_EQ(bonds("F/C=C\\F").at(1), (Row{1, 1, 0}));
  EXPECT_EQ(bonds("FC=CF").at(1), (Row{1, 0, 0}));
  EXPECT_EQ(bonds("F/C=C/F", Featurizer::transfer), (Rows{{0, 1}, {1, 0}, {0, 1}}));
  EXPECT_EQ(bonds("F/C=C\\F", Featurizer::transfer), (Rows{{0, 1}, {1, 0}, {0, 2}}));
  EXPECT_EQ(bonds("C=CC=C"), (Rows{{1, 0, 1}, {0, 0, 1}, {1, 0, 1}}));
}

TEST(Chemistry, ChargesRadicalsAndHybridisation) {
  EXPECT_EQ(atoms("C[N+](C)(C)C").at(1), (Row{6, 0, 4, 6, 0, 0, 2, 0, 0}));
  EXPECT_EQ(atoms("CC(=O)[O-]").at(3), (Row{7, 0, 1, 4, 0, 0, 1, 0, 0}));
  EXPECT_EQ(bonds("CC(=O)[O-]"), (Rows{{0, 0, 0}, {1, 0, 1}, {0, 0, 1}}));
  EXPECT_EQ(atoms("[CH3]"), (Rows{{5, 0, 3, 5, 3, 1, 2, 0, 0}}));
  EXPECT_EQ(atoms("C#C"), Rows(2, Row{5, 0, 2, 5, 1, 0, 0, 0, 0}));
  EXPECT_EQ(bonds("C#C"), (Rows{{2, 0, 0}}));
  EXPECT_EQ(atoms("FP(F)(F)(F)F").at(1), (Row{14, 0, 5, 5, 0, 0, 3, 0, 0}));
  EXPECT_EQ(atoms("FS(F)(F)(F)(F)F").at(1), (Row{15, 0, 6, 5, 0, 0, 4, 0, 0}));
  EXPECT_EQ(atoms("C1CC1"), Rows(3, Row{5, 0, 4, 5, 2, 0, 2, 0, 1}));
}

TEST(Chemistry, SingleAtomsAndFragments) {
  EXPECT_EQ(atoms("[He]"), (Rows{{1, 0, 0, 5, 0, 0, 5, 0, 0}}));
  EXPECT_EQ(atoms("[He]", Featurizer::transfer), (Rows{{1, 0}}));
  EXPECT_EQ(atoms("*"), (Rows{{118, 0, 0, 5, 0, 0, 5, 0, 0}}));
  EXPECT_EQ(atoms("*", Featurizer::transfer), (Rows{{118, 0}}));
  EXPECT_EQ(atoms("[Og]").at(0).at(0), 117);
  EXPECT_EQ(atoms("[Na+].[Cl-]"), (Rows{{10, 0, 0, 6, 0, 0, 5, 0, 0}, {16, 0, 0, 4, 0, 0, 2, 0, 0}}));
  const ParsedMolecules m = parse({"[He]", "[Na+].[Cl-]", "CC.O", "C=O"});
  EXPECT_EQ(m.node_offsets, (std::vector<int64_t>{0, 1, 3, 6, 8}));
  EXPECT_EQ(m.edge_offsets, (std::vector<int64_t>{0, 0, 0, 1, 2}));
  EXPECT_EQ(m.edges, (std::vector<Edge>{{0, 1}, {0, 1}}));
  EXPECT_EQ(m.num_graphs(), 4);
}

TEST(Chemistry, ValuesBeyondTheListsAreOther) {
  const auto code = [](const std::string& text, int place) { return atoms(text).at(0).at(place); };
  std::string ten = "[U]", eleven = "[U](F)";
  for (int i = 0; i < 10; ++i) ten += "(F)", eleven += "(F)";
  EXPECT_EQ(code(ten, 2), 10);
  EXPECT_EQ(code(eleven, 2), 11);
  EXPECT_EQ(code("[U-5]", 3), 0);
  EXPECT_EQ(code("[U+5]", 3), 10);
  EXPECT_EQ(code("[U+6]", 3), 11);
  EXPECT_EQ(code("[U-6]", 3), 11);
  EXPECT_EQ(code("[UH8]", 4), 8);
  EXPECT_EQ(code("[UH9]", 4), 9);
  EXPECT_EQ(code("[C]", 5), 4);
  for (const char* text : {"N->[Pt]", "[Re]$[Re]"}) {
    EXPECT_EQ(bonds(text).at(0).at(0), 4) << text;
    EXPECT_EQ(bonds(text, Featurizer::transfer).at(0).at(0), 4) << text;
  }
}

TEST(Chemistry, CodesStayBelowTheirSizes) {
  const std::vector<std::string> texts = {"C[C@H](N)O",
                                          "*",
                                          "[UH9]",
                                          "[U-6]",
                                          "[Re]$[Re]",
                                          "[C@SP1](F)(Cl)(Br)I",
                                          "F/C=C\\F",
                                          "N",
                                          "[C]",
                                          "c1cc[nH]c1",
                                          carbon_block(2, {"  1  2  2  3"})};
  for (const Featurizer featurizer : {Featurizer::ogb, Featurizer::transfer}) {
    const ParsedMolecules m = parse(texts, featurizer);
    const CodeSizes sizes = code_sizes(featurizer);
    EXPECT_TRUE(m.invalid.empty());
    for (const auto& [codes, limits] : {std::pair{m.node_codes, sizes.atoms}, std::pair{m.edge_codes, sizes.bonds}}) {
      ASSERT_EQ(codes.columns, static_cast<int64_t>(limits.size()));
      for (const Row& row : rows_of(codes)) {
        for (size_t c = 0; c < limits.size(); ++c)
          EXPECT_TRUE(row[c] >= 0 && row[c] < limits[c]) << c << ": " << row[c];
      }
    }
  }
}

TEST(Chemistry, HydrogensAreImplicitWhereRdkitSaysSo) {
  EXPECT_EQ(atoms("[H]C([H])([H])[H]"), (Rows{{5, 0, 4, 5, 4, 0, 2, 0, 0}}));
  EXPECT_EQ(atoms("[H][H]").size(), 2u);
  EXPECT_EQ(atoms("[2H]O").size(), 2u) << "isotopes are kept";
}

TEST(Chemistry, MolBlocks) {
  expect_equal(parse({carbon_block(3, {"  1  2  1  0", "  2  3  1  0"})}), parse({"CCC"}));
  // A crossed double bond is neither E nor Z: stereo "any", and no direction.
  const std::string crossed = carbon_block(4, {"  1  2  1  0", "  2  3  2  3", "  3  4  1  0"});
  EXPECT_EQ(bonds(crossed).at(1), (Row{1, 5, 0}));
  EXPECT_EQ(bonds(crossed, Featurizer::transfer).at(1), (Row{1, 0}));
  const std::string five_bonds = carbon_block(4, {"  1  2  2  0", "  2  3  2  0", "  2  4  1  0"});
  const ParsedMolecules m = parse({"\n\n\nnot a block\nM  END\n", five_bonds, carbon_block(0, {})});
  ASSERT_EQ(m.invalid.size(), 3u);
  EXPECT_EQ(m.invalid[2].reason, "there are no atoms");
}

TEST(Chemistry, CanonicalSmiles) {
  using Smiles = std::vector<std::optional<std::string>>;
  const std::string crossed = carbon_block(4, {"  1  2  1  0", "  2  3  2  3", "  3  4  1  0"});
  EXPECT_EQ(canonical_smiles(column({"OCC", "C(C)O name", "CC(", "C1=CC=CC=C1", "F/C=C/F", "N[C@@H](C)O", "[2H]O", "",
                                     carbon_block(3, {"  1  2  1  0", "  2  3  1  0"}), "no block\n", crossed}),
                             Threads{2}),
            (Smiles{"CCO", "CCO", std::nullopt, "c1ccccc1", "F/C=C/F", "C[C@H](N)O", "[2H]O", std::nullopt, "CCC",
                    std::nullopt, "CC=CC"}));
}

TEST(Chemistry, InvalidTextsAreListedAndNothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const ParsedMolecules m =
      parse({"CC(", "CC", "c1cccc1", "C(C)(C)(C)(C)C", "", "O", "xyz", "C1CC", std::string("C\0C", 3), "CC |foo|", "[",
             std::string(50000, '('), "CC1CC1>>C", "c1ccccc1(C)(C)C", "\xff\xfe"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  std::vector<int64_t> rows;
  for (const InvalidMolecule& one : m.invalid) {
    rows.push_back(one.row);
    EXPECT_FALSE(one.reason.empty());
    EXPECT_LE(one.reason.size(), 160u);
    EXPECT_EQ(one.reason.find('\n'), std::string::npos);
  }
  EXPECT_EQ(rows, (std::vector<int64_t>{0, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(m.invalid[1].reason, "Can't kekulize mol. Unkekulized atoms: 0 1 2 3 4") << "blanks are joined";
  EXPECT_EQ(m.invalid[2].reason, "Explicit valence for atom # 0 C, 5, is greater than permitted");
  EXPECT_EQ(m.invalid[3].reason, "the text is empty");
  EXPECT_EQ(m.node_offsets.at(1), 0);
  EXPECT_EQ(m.node_offsets.back(), 3) << "only CC and O have atoms";
  EXPECT_EQ(m.node_codes.values.size(), 3u * 9);
}

// A name after the SMILES sends it through all of RDKit's parser; without one, and without stereo marks, our own order
// of its steps is taken.
TEST(Chemistry, ANameChangesNothing) {
  std::vector<std::string> plain, named;
  for (const char* text : {"CCO",
                           "c1ccccc1C(=O)O",
                           "[H]C([H])C=CC",
                           "[H]OC",
                           "C1CC1[H]",
                           "[2H]C([2H])([2H])C",
                           "[nH]1cccc1",
                           "c1cc[nH]c1",
                           "C[N+](=O)[O-]",
                           "CN(=O)=O",
                           "[O-]Cl(=O)(=O)=O",
                           "C=C=C",
                           "CC=CC",
                           "C[Si](C)(C)C",
                           "[Fe]",
                           "[Fe+2].[Cl-].[Cl-]",
                           "*CC*",
                           "[*]C",
                           "N#N",
                           "[C-]#[O+]",
                           "C1CC2CCC1CC2",
                           "c1ccc2ccccc2c1",
                           "O=S(=O)(N)c1ccccc1",
                           "P(=O)(O)(O)O",
                           "[H][H]",
                           "[H+]",
                           "[H]",
                           "[H]O[H]",
                           "[NH4+]",
                           "B(O)O",
                           "[BH4-].[Na+]",
                           "C%10CCCC%10",
                           "N->[Pt]",
                           "[Na]Cl",
                           "CC(C)(C)c1ccccc1",
                           "ClC=CCl",
                           "FC(Cl)Br",
                           "C[SH](C)C",
                           "[13CH4]",
                           "c1ccccc1-c1ccccc1",
                           "O=c1cc[nH]cc1"}) {
    plain.emplace_back(text);
    named.push_back(std::string(text) + " name");
  }
  for (const Featurizer featurizer : {Featurizer::ogb, Featurizer::transfer})
    expect_equal(parse(plain, featurizer), parse(named, featurizer));
}

TEST(Chemistry, LargeMolecules) {
  std::string nested = "C", closed;
  for (int i = 0; i < 20000; ++i) nested += "(C", closed += ")";
  std::string dots = "C";
  for (int i = 0; i < 5000; ++i) dots += ".C";
  const ParsedMolecules m = parse({std::string(100000, 'C'), nested + closed, dots});
  EXPECT_TRUE(m.invalid.empty());
  EXPECT_EQ(m.node_offsets, (std::vector<int64_t>{0, 100000, 120001, 125002}));
  EXPECT_EQ(m.edge_offsets, (std::vector<int64_t>{0, 99999, 119999, 119999}));
}

TEST(Chemistry, AnyNumberOfThreadsGivesTheSame) {
  const std::vector<std::string> kinds = {"CCO", "CC(", "F/C=C/F", "c1ccccc1", "[He]", "", "C[C@H](N)O", "CC.O", "N"};
  std::vector<std::string> texts;
  for (int i = 0; i < 1500; ++i) texts.push_back(kinds[(i * i + i / 7) % kinds.size()]);
  const ParsedMolecules one = parse(texts, Featurizer::ogb, 1);
  ASSERT_EQ(one.num_graphs(), 1500);
  EXPECT_GT(one.invalid.size(), 100u);
  for (const int threads : {2, 8}) expect_equal(one, parse(texts, Featurizer::ogb, threads));
  // And what is joined is what each row gives alone.
  for (int row = 250; row < 260; ++row) {
    const ParsedMolecules alone = parse({texts[row]});
    EXPECT_EQ(one.node_offsets[row + 1] - one.node_offsets[row], alone.node_offsets[1]) << row;
    EXPECT_TRUE(std::equal(alone.node_codes.values.begin(), alone.node_codes.values.end(),
                           one.node_codes.values.begin() + one.node_offsets[row] * 9))
        << row;
  }
  expect_equal(parse({}, Featurizer::ogb, 2), parse({}));
}

// Real sets, if GRAPHPAE_TEST_DATA names their directory.
class BenchmarkChemistry : public testing::TestWithParam<const char*> {};

TEST_P(BenchmarkChemistry, EqualsTheGraphsOfTheSet) {
  const char* root = std::getenv("GRAPHPAE_TEST_DATA");
  const std::string path = root == nullptr ? "" : std::string(root) + "/" + GetParam();
  if (path.empty() || !std::filesystem::exists(path)) GTEST_SKIP() << "not there";
  const Dataset with_graphs = load(path);
  const GraphSetParts& expected = with_graphs.graph_set().parts();
  LoadOptions options;
  options.featurizer = expected.node_codes.columns == 9 ? Featurizer::ogb : Featurizer::transfer;
  options.on_invalid = OnInvalid::fail;
  options.threads = all_threads();
  const Dataset alone = load(path + "/molecules.csv.gz", options);
  const GraphSetParts& found = alone.graph_set().parts();
  EXPECT_EQ(alone.invalid, 0);
  ASSERT_EQ(found.node_offsets, expected.node_offsets);
  ASSERT_EQ(found.edge_offsets, expected.edge_offsets);
  EXPECT_TRUE(found.edges == expected.edges);
  EXPECT_EQ(found.node_codes.columns, expected.node_codes.columns);
  EXPECT_EQ(found.edge_codes.columns, expected.edge_codes.columns);
  EXPECT_TRUE(found.node_codes.values == expected.node_codes.values);
  EXPECT_TRUE(found.edge_codes.values == expected.edge_codes.values);
}

INSTANTIATE_TEST_SUITE_P(Sets, BenchmarkChemistry,
                         testing::Values("molesol", "molfreesolv", "mollipo", "molbace", "moltox21", "qm9_subset",
                                         "zinc250k"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace graphpae
