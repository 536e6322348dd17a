// Targets of molecules as people write them: missing values, censored ones, classes in words; rows that repeat; InChI.
#include "graphpae/data/target_column.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "graphpae/data/load.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;
using Texts = std::vector<std::string>;

TargetColumn::Result finished(const Texts& texts, bool asked_for = true, const std::string& name = "t") {
  TargetColumn column(name);
  int64_t line = 2;
  for (const std::string& text : texts) column.add(text, line++);
  return std::move(column).finish(asked_for);
}

std::string all_of_them(const Texts& notes) {
  std::string all;
  for (const std::string& note : notes) all += note + "\n";
  return all;
}

TEST(TargetColumn, MissingValuesAreAlike) {
  for (const char* text : {"", " ", "None", "none", "nan", "NaN", "NA", "N/A", "?", "null", "<NA>"}) {
    const TargetColumn::Result result = finished({"1", text, "0"});
    ASSERT_EQ(result.values.size(), 3u) << text;
    EXPECT_TRUE(std::isnan(result.values[1])) << text;
    EXPECT_EQ(result.note, "");
    EXPECT_EQ(finished({"active", text, "inactive"}).values.size(), 3u) << text;
  }
}

TEST(TargetColumn, CensoredValuesAreNumbersWithANote) {
  const TargetColumn::Result result = finished({">10", "5", "< 0.5", "~3", ">=7",
                                                "\xe2\x89\xa4"
                                                "2e1"});
  EXPECT_EQ(result.values, (std::vector<double>{10, 5, 0.5, 3, 7, 20}));
  EXPECT_EQ(result.note, "has 5 censored values such as '>10', taken as the number");
  EXPECT_EQ(finished({">10", "5"}).note, "has 1 censored value such as '>10', taken as the number");
  EXPECT_FALSE(finished({">x", "5"}).reason.empty());
  EXPECT_FALSE(finished({">inf", "5"}).reason.empty());
}

TEST(TargetColumn, TwoClassesInADocumentedOrder) {
  const std::vector<Texts> kPairs = {
      {"inactive", "active"}, {"no", "yes"},    {"N", "Y"},       {"False", "True"},        {"negative", "positive"},
      {"non-toxic", "toxic"}, {"BBB-", "BBB+"}, {"fail", "pass"}, {"insoluble", "soluble"}, {"A", "B"},
      {"apple", "banana"},    {"-", "+"}};
  for (const Texts& pair : kPairs) {
    const TargetColumn::Result result = finished({pair[1], pair[0], "", pair[1]});
    ASSERT_EQ(result.values.size(), 4u) << pair[0];
    EXPECT_EQ(result.values[0], 1) << pair[0];
    EXPECT_EQ(result.values[1], 0) << pair[0];
    EXPECT_TRUE(std::isnan(result.values[2]));
    EXPECT_EQ(result.note, "holds two classes: '" + pair[0] + "' is 0, '" + pair[1] + "' is 1");
  }
  EXPECT_EQ(finished({"Active", "ACTIVE", "inactive"}).values, (std::vector<double>{1, 1, 0})) << "case does not count";
}

TEST(TargetColumn, WhatIsNoTarget) {
  EXPECT_EQ(finished({"a", "b", "c", "a"}).reason,
            "holds 3 different texts (a, b, c), neither numbers nor two classes");
  EXPECT_EQ(finished({"1", "yes"}).reason, "is not numeric ('yes')");
  EXPECT_EQ(finished({"1", "yes"}).place, 3);
  EXPECT_EQ(finished({"yes", "1"}).reason, "is not numeric ('yes')");
  EXPECT_EQ(finished({"yes", "yes"}).reason, "is not numeric ('yes')") << "one class is none";
  // Of columns that were not asked for: names, places of a split.
  EXPECT_EQ(finished({"m1", "m2"}, false).reason, "is not numeric ('m1')");
  EXPECT_EQ(finished({"m1", "m2", "m2", "m1"}, false).values.size(), 4u);
  EXPECT_EQ(finished({"active", "inactive"}, false).values.size(), 2u);
  EXPECT_EQ(finished({"train", "test", "train", "test"}, false).reason, "is not numeric ('train')");
  EXPECT_EQ(finished({"a", "b", "c", "a", "b", "c"}, false).reason,
            "holds 3 different texts (a, b, c), neither numbers nor two classes,");
  EXPECT_EQ(finished({"", "NA"}, false).reason, "has no values");
  EXPECT_EQ(finished({"1", "2"}, false, "mol_id").reason, "holds ids, not targets,");
}

TEST(TargetColumn, InTablesAndRecords) {
  const TempDir dir;
  const Dataset data =
      load(dir.write("m.csv", "smiles,activity,ic50,phase\nC,active,>10,one\nCC,inactive,5,two\nCCC,?,None,three\n"));
  EXPECT_EQ(data.graph_set().parts().task_names, (Texts{"activity", "ic50"}));
  EXPECT_EQ(data.graph_set().parts().targets[0], 1);
  EXPECT_EQ(data.graph_set().parts().targets[1], 10);
  EXPECT_TRUE(std::isnan(data.graph_set().parts().targets[4]));
  EXPECT_NE(all_of_them(data.notes).find("m.csv: column 'activity' holds two classes: 'inactive' is 0, 'active' is 1"),
            std::string::npos)
      << all_of_them(data.notes);
  EXPECT_NE(all_of_them(data.notes).find("m.csv: column 'ic50' has 1 censored value such as '>10'"), std::string::npos);
  LoadOptions options;
  options.tasks = {"phase"};
  EXPECT_DATA_ERROR(load(dir / "m.csv", options),
                    "m.csv: column 'phase' holds 3 different texts (one, two, three), neither numbers nor two classes");

  const std::string block =
      "x\n\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\nM  END\n";
  const Dataset records = load(dir.write("m.sdf", block + "> <a>\nyes\n\n$$$$\n" + block + "> <a>\nno\n\n$$$$\n"));
  EXPECT_EQ(records.graph_set().parts().targets, (std::vector<double>{1, 0}));
  EXPECT_NE(all_of_them(records.notes).find("m.sdf: tag 'a' holds two classes: 'no' is 0, 'yes' is 1"),
            std::string::npos);
}

TEST(MoleculeDuplicates, AreCountedHoweverTheyAreWritten) {
  const TempDir dir;
  const auto duplicates = [&](const std::string& rows) { return load(dir.write("m.csv", "smiles,t\n" + rows)); };
  const Dataset opposite = duplicates("CCO,1\nOCC,0\nCC,1\nC1=CC=CC=C1,0\nc1ccccc1,0\nN,\n");
  EXPECT_EQ(opposite.duplicates.molecules, 4);
  EXPECT_EQ(opposite.duplicates.groups, 2);
  EXPECT_EQ(opposite.duplicates.conflicting, 1);
  EXPECT_NE(all_of_them(opposite.notes)
                .find("4 rows are 2 molecules that appear more than once; 1 of these has different labels"),
            std::string::npos)
      << all_of_them(opposite.notes);
  const Dataset missing = duplicates("CCO,1\nOCC,\nOCC,1\n");
  EXPECT_EQ(missing.duplicates.molecules, 3);
  EXPECT_EQ(missing.duplicates.conflicting, 0);
  EXPECT_EQ(all_of_them(missing.notes), "");
  EXPECT_EQ(duplicates("C[C@H](N)O,1\nC[C@@H](N)O,0\nCC(N)O,1\n").duplicates.groups, 0) << "stereo counts";
  EXPECT_NE(all_of_them(duplicates("CC,1\nCC,0\n").notes).find("2 rows are 1 molecule that appears more than once"),
            std::string::npos);
  EXPECT_EQ(duplicates("C[C@H](N)O,1\nO[C@@H](C)N,0\nN[C@@H](C)O,0\n").duplicates.groups, 1);
  EXPECT_EQ(duplicates("CCCCO,1\nCCC(C)O,0\nCC(C)(C)O,0\n").duplicates.groups, 0) << "isomers";
}

// None of these is an edge list.
TEST(LoadMolecules, InChIAndOddNames) {
  const TempDir dir;
  EXPECT_DATA_ERROR(
      load(dir.write("i.csv", "InChI,y\n\"InChI=1S/CH4/h1H4\",1\n\"InChI=1S/C2H6/c1-2/h1-2H3\",0\n")),
      "i.csv: column 'InChI' holds InChI, which RDKit as packaged for Debian does not read; add a column 'smiles'");
  EXPECT_DATA_ERROR(load(dir.write("i.csv", "id,structure,y\n1,InChI=1S/CH4/h1H4,1\n2,InChI=1S/H2O/h1H2,0\n")),
                    "column 'structure' holds InChI");
  EXPECT_DATA_ERROR(load(dir.write("i.csv", "InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3\n")), "i.csv: holds InChI");
  EXPECT_DATA_ERROR(load(dir.write("i.csv", "inchikey,y\nVNWKTOKETHGBQD-UHFFFAOYSA-N,1\n")),
                    "column 'inchikey' holds keys of InChI");
  EXPECT_EQ(load(dir.write("i.csv", "inchi,smiles,y\n\"InChI=1S/CH4/h1H4\",C,1\n")).graph_set().num_graphs(), 1);
  LoadOptions options;
  options.smiles_column = "InChI";
  EXPECT_DATA_ERROR(load(dir.write("i.csv", "InChI,y\nInChI=1S/CH4/h1H4,1\n"), options),
                    "is not a valid SMILES: it is an InChI");
  // One row of four that is not a molecule; plain SMILES under the name of molecules.
  EXPECT_DATA_ERROR(load(dir.write("o.csv", "thing,y\nCC(=O)O,1\nC1CC1,2\nC(=O)(,3\nC#N,4\n")),
                    "--smiles-column thing");
  EXPECT_DATA_ERROR(load(dir.write("o.csv", "Molecule,y\nCCO,1\nCCN,2\n")),
                    "o.csv: column 'Molecule' holds SMILES; --smiles-column Molecule");
}

}  // namespace
}  // namespace graphpae
