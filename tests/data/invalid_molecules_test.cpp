#include <gtest/gtest.h>

#include "graphpae/data/chemistry.h"
#include "tests/support/expect_error.h"
#include "tests/support/molecules.h"

namespace graphpae {
namespace {

using test::column;

// Seven rows of which 1, 4 and 5 are no molecules.
GraphSetParts seven() {
  GraphSetParts parts;
  parts.texts = column({"CCO", "CC(", "C", "N", "c1cccc1", "", "O=O"});
  parts.num_graphs = 7;
  parts.task_names = {"a", "b"};
  for (int row = 0; row < 7; ++row) parts.targets.insert(parts.targets.end(), {row * 1.0, row * 10.0});
  parts.splits = {{{6, 0, 1}, {2, 4}, {5, 3}}, {{5}, {6}, {}}};
  return parts;
}

int64_t add(GraphSetParts& parts, OnInvalid policy, const MoleculeSource& source, std::vector<std::string>& notes) {
  return add_structure(parse_molecules(parts.texts, Featurizer::ogb, Threads{1}), policy, source, parts, notes);
}

TEST(InvalidMolecules, SkipLeavesThemOutAndNumbersAnew) {
  GraphSetParts parts = seven();
  std::vector<std::string> notes;
  EXPECT_EQ(add(parts, OnInvalid::skip, {"m.csv", false, 2, {}}, notes), 3);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(
      notes[0],
      "m.csv: 3 of 7 molecules are not valid SMILES and were left out: lines 3, 6, 7 (first: 'CC(': the syntax is "
      "wrong)");
  EXPECT_EQ(parts.num_graphs, 4);
  EXPECT_EQ(parts.texts.size(), 4);
  EXPECT_EQ(parts.texts[1], "C");
  EXPECT_EQ(parts.texts[3], "O=O");
  EXPECT_EQ(parts.targets, (std::vector<double>{0, 0, 2, 20, 3, 30, 6, 60}));
  EXPECT_EQ(parts.splits, (std::vector<Split>{{{3, 0}, {1}, {2}}, {{}, {3}, {}}}));
  EXPECT_EQ(parts.node_offsets, (std::vector<int64_t>{0, 3, 4, 5, 7}));
  EXPECT_EQ(parts.edge_offsets, (std::vector<int64_t>{0, 2, 2, 2, 3}));
  EXPECT_NO_THROW(GraphSet{parts});
}

TEST(InvalidMolecules, NanKeepsEveryRow) {
  GraphSetParts parts = seven();
  std::vector<std::string> notes;
  EXPECT_EQ(add(parts, OnInvalid::nan, {"m.csv", false, 2, {}}, notes), 3);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("3 of 7 molecules are not valid SMILES and stay as rows without atoms: lines 3, 6, 7"),
            std::string::npos)
      << notes[0];
  EXPECT_EQ(parts.num_graphs, 7);
  EXPECT_EQ(parts.texts.size(), 7);
  EXPECT_EQ(parts.targets, seven().targets);
  EXPECT_EQ(parts.splits, (std::vector<Split>{{{6, 0}, {2}, {3}}, {{}, {6}, {}}}));
  EXPECT_EQ(parts.node_offsets, (std::vector<int64_t>{0, 3, 3, 4, 5, 5, 5, 7}));
  const GraphSet set(parts);
  EXPECT_EQ(count_fragments(set, 1), 0);
}

TEST(InvalidMolecules, FailNamesFileLineTextAndReason) {
  GraphSetParts parts = seven();
  std::vector<std::string> notes;
  EXPECT_DATA_ERROR(add(parts, OnInvalid::fail, {"m.csv", false, 2, {}}, notes),
                    "m.csv:3: 'CC(' is not a valid SMILES: the syntax is wrong");
  parts = seven();
  EXPECT_DATA_ERROR(add(parts, OnInvalid::fail, {"m.smi", false, 1, {4, 9, 10, 11, 12, 13, 20}}, notes), "m.smi:9: ");
  parts = seven();
  EXPECT_DATA_ERROR(add(parts, OnInvalid::fail, {"m.sdf", true, 1, {}}, notes), "m.sdf: record 2: the record is not");
  GraphSetParts line_ends;
  line_ends.num_graphs = 1;
  line_ends.texts = column({"bad\n\nblock with \r many\nlines"});
  EXPECT_DATA_ERROR(add(line_ends, OnInvalid::fail, {"m.csv", false, 2, {}}, notes), "m.csv:2: 'bad??block");
  GraphSetParts long_text;
  long_text.num_graphs = 1;
  long_text.texts = column({std::string(1000, '(')});
  EXPECT_DATA_ERROR(add(long_text, OnInvalid::fail, {"m.csv", false, 2, {}}, notes), "(...' is not");
  EXPECT_TRUE(notes.empty());
}

TEST(InvalidMolecules, NothingLeftIsAnErrorOnlyWhereRowsAreLeftOut) {
  GraphSetParts none;
  none.num_graphs = 2;
  none.texts = column({"CC(", "x"});
  std::vector<std::string> notes;
  GraphSetParts kept = none;
  EXPECT_DATA_ERROR(add(none, OnInvalid::skip, {"m.csv", false, 2, {}}, notes), "so is every other row");
  EXPECT_EQ(add(kept, OnInvalid::nan, {"m.csv", false, 2, {}}, notes), 2);
  EXPECT_EQ(GraphSet(kept).num_nodes(), 0);
}

TEST(InvalidMolecules, NotesNameAHandfulOfLines) {
  GraphSetParts parts;
  std::vector<std::string> texts(1208, "C");
  for (int i = 0; i < 1007; ++i) texts[200 + i] = "(";
  parts.texts = column(texts);
  parts.num_graphs = 1208;
  std::vector<std::string> notes;
  add(parts, OnInvalid::skip, {"m.sdf", true, 2, {}}, notes);
  EXPECT_EQ(notes.at(0).substr(0, notes.at(0).find(" (first")),
            "m.sdf: 1,007 of 1,208 molecules are not valid mol blocks and were left out: records 201, 202, 203, 204, "
            "205, ... and 1,002 more");
  GraphSetParts one;
  one.texts = column({"C", "("});
  one.num_graphs = 2;
  add(one, OnInvalid::skip, {"m.csv", false, 2, {}}, notes);
  EXPECT_NE(notes.at(1).find("1 of 2 molecules is not valid SMILES and was left out: line 3 ("), std::string::npos);
  GraphSetParts fine;
  fine.texts = column({"C"});
  fine.num_graphs = 1;
  EXPECT_EQ(add(fine, OnInvalid::fail, {"m.csv", false, 2, {}}, notes), 0);
  EXPECT_EQ(notes.size(), 2u);
}

TEST(InvalidMolecules, ABadSplitIsAnError) {
  GraphSetParts parts = seven();
  parts.splits[1].test = {7};
  std::vector<std::string> notes;
  EXPECT_DATA_ERROR(add(parts, OnInvalid::skip, {"m.csv", false, 2, {}}, notes), "id 7 is outside 0..6");
}

}  // namespace
}  // namespace graphpae
