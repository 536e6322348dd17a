// Which columns of a table are edges: files as people have them.
#include "graphpae/data/edge_columns.h"

#include <gtest/gtest.h>

#include "graphpae/data/load.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

// source, target and weight as names of columns.
std::string ends(const TempDir& dir, const std::string& text, const std::string& wanted = "",
                 NodeIds ids = NodeIds::automatic) {
  const EdgeColumns found = recognise_edge_columns(dir.write("e.csv", text), ids, wanted);
  std::string ends = found.name(found.lines.source) + ">" + found.name(found.lines.target);
  if (found.lines.weight >= 0) ends += "*" + found.name(found.lines.weight);
  return ends;
}

TEST(EdgeColumns, KnownHeaders) {
  const TempDir dir;
  EXPECT_EQ(ends(dir, "citing,cited\n35,1033\n35,103482\n"), "citing>cited");
  EXPECT_EQ(ends(dir, "u,v\nalice,bob\nbob,carol\n"), "u>v");
  EXPECT_EQ(ends(dir, "year,source,target,weight\n2001,0,1,0.5\n2001,1,2,2\n"), "source>target*weight");
  EXPECT_EQ(ends(dir, ",source,target\n0,5,7\n1,7,9\n2,9,5\n"), "source>target");
  EXPECT_EQ(ends(dir, "Unnamed: 0,from_id,to_id\n0,a,b\n1,b,c\n"), "from_id>to_id");
  EXPECT_EQ(ends(dir, "target;source;w\n1;2;0.5\n"), "source>target*w");
  EXPECT_EQ(ends(dir, "\tsrc\tdst\n0\ta\tb\n"), "src>dst");
  EXPECT_EQ(ends(dir, "p q\n1 8 9\n2 9 7\n3 7 8\n"), "p>q");  // row names below a shorter header
}

TEST(EdgeColumns, LettersAreNodesWhereOthersAre) {
  const TempDir dir;
  const EdgeColumns found = recognise_edge_columns(dir.write("e.csv", "a,b\nc,d\nd,e\n"), NodeIds::automatic);
  EXPECT_FALSE(found.has_header);
  EXPECT_EQ(found.lines.first_line, 1);
}

TEST(EdgeColumns, KindsAndSharedValuesTellUnknownColumns) {
  const TempDir dir;
  EXPECT_EQ(ends(dir, "0 1 0.5\n1 2 0.25\n2 0 1.5\n"), "1>2");
  EXPECT_EQ(ends(dir, "0,1,17\n1,2,18\n2,0,19\n"), "1>2");
  EXPECT_EQ(ends(dir, "p,q,ratio\n4,7,0.5\n7,9,0.1\n"), "p>q");
  EXPECT_EQ(ends(dir, "date,p,q\n20200101,ann,bob\n20200102,bob,cy\n"), "p>q");
  EXPECT_EQ(ends(dir, "team,person,friend\n1,ann,bob\n1,bob,cy\n2,cy,ann\n"), "person>friend");
}

TEST(EdgeColumns, WantedColumnsByNameOrNumber) {
  const TempDir dir;
  const std::string text = "p,q,r,s\n1,2,3,0.5\n2,3,1,0.25\n";
  EXPECT_EQ(ends(dir, text, "q,r"), "q>r");
  EXPECT_EQ(ends(dir, text, "r,p,s"), "r>p*s");
  EXPECT_EQ(ends(dir, text, "2,1,4"), "q>p*s");
  EXPECT_EQ(ends(dir, "0 1 0.5\n1 2 0.25\n", "1,2,3"), "1>2*3");
  EXPECT_EQ(ends(dir, "who,whom\nann,bob\nbob,cy\n", "who,whom"), "who>whom");
  EXPECT_USAGE_ERROR(ends(dir, text, "q,t"), "has no column 't'");
  EXPECT_USAGE_ERROR(ends(dir, text, "q"), "expected SOURCE,TARGET");
  EXPECT_USAGE_ERROR(ends(dir, text, "q,q"), "named twice");
  EXPECT_USAGE_ERROR(ends(dir, text, "1,5"), "has no column '5'");
}

TEST(EdgeColumns, AsksWhenItIsNotSure) {
  const TempDir dir;
  const auto asks = [&](const std::string& text, const char* part) {
    EXPECT_DATA_ERROR(ends(dir, text), part);
    try {
      ends(dir, text);
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("The first rows are ["), std::string::npos) << message;
      EXPECT_NE(message.find("--columns SOURCE,TARGET"), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  };
  asks("id,inchi\n0,InChI=1S/CH4/h1H4\n1,InChI=1S/H2O/h1H2\n", "holds InChI");
  asks("name,inchi\nmethane,InChI=1S/CH4/h1H4\nwater,InChI=1S/H2O/h1H2\n", "holds InChI");
  asks("inchi,activity\nInChI=1S/CH4/h1H4,0.5\nInChI=1S/H2O/h1H2,0.25\n", "InChI");
  asks("id,label\n0,1\n1,0\n2,1\n", "do not look like the ends of edges");
  asks("0,red\n1,blue\n2,red\n", "one column holds numbers and the other words");
  asks("p,q,r\n4,7,9\n7,9,4\n9,4,7\n", "which columns are the ends");
  asks("2001,5,7\n2002,7,5\n2003,5,7\n", "which columns are the ends");
  asks("0,5,7\n1,7,9\n2,9,5\n", "counts the rows");
  std::string matrix;
  for (int row = 0; row < 34; ++row) {
    for (int column = 0; column < 34; ++column) matrix += (row + column) % 3 == 0 ? "1," : "0,";
    matrix.back() = '\n';
  }
  asks(matrix, "may be an adjacency matrix");
  std::string friends = "person,friend\n";
  for (int i = 0; i < 12; ++i) friends += "n" + std::to_string(i) + ",n" + std::to_string((i + 1) % 12) + "\n";
  asks(friends, "is the first row a header?");
  EXPECT_EQ(ends(dir, friends, "person,friend"), "person>friend");
  EXPECT_EQ(ends(dir, friends, "1,2"), "1>2");
}

TEST(EdgeColumns, ReadsWeightsAndSaysSo) {
  const TempDir dir;
  const Dataset data = load(dir.write("e.csv", "year,source,target,weight\n2001,0,1,0.5\n2001,1,2,2\n2002,2,1,4\n"));
  const Graph& graph = data.graph();
  EXPECT_EQ(graph.num_nodes(), 3);
  ASSERT_TRUE(graph.adjacency().has_weights());
  EXPECT_EQ(graph.adjacency().row_weights(0)[0], 0.5f);
  EXPECT_EQ(graph.adjacency().row_weights(1)[1], 3.0f);  // the mean of both directions
  ASSERT_EQ(data.columns.size(), 1u);
  using Uses = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(data.columns[0].uses, (Uses{{"source", "source"},
                                        {"target", "target"},
                                        {"weight", "weight"},
                                        {"left out", "year"},
                                        {"header", "yes"},
                                        {"ids", "numbers from 0"}}));
  LoadOptions directed;
  directed.directed = true;
  EXPECT_EQ(load(dir / "e.csv", directed).graph().adjacency().row_weights(1)[1], 6.0f);
  EXPECT_EQ(load(dir / "e.csv", directed).graph().directed_edges().num_edges(), 3);
  EXPECT_DATA_ERROR(load(dir.write("m.csv", "src,dst,weight\n0,1,0.5\n1,2,\n")), "m.csv:3: the weight '' is not a");
  EXPECT_DATA_ERROR(load(dir.write("m.csv", "src,dst,weight\na,b,0.5\nb,c,nan\n")), "m.csv:3: the weight 'nan' is not");
}

TEST(EdgeColumns, WeightsThatSayNothingAreNone) {
  const TempDir dir;
  EXPECT_FALSE(load(dir.write("e.csv", "src,dst,weight\n0,1,1\n1,2,1\n1,2,1\n")).graph().adjacency().has_weights());
  const Dataset data = load(dir.write("z.csv", "src,dst,weight\n0,1,1\n1,2,0\n0,2,3\n"));
  EXPECT_EQ(data.graph().adjacency().num_edges(), 2);
  ASSERT_EQ(data.notes.size(), 1u);
  EXPECT_EQ(data.notes[0], "1 edges of weight 0 are left out");
}

TEST(EdgeColumns, AHeaderThatNamesADirectionIsPointedOut) {
  const TempDir dir;
  const Dataset data = load(dir.write("e.csv", "citing,cited\n0,1\n1,2\n"));
  ASSERT_EQ(data.notes.size(), 1u);
  EXPECT_NE(data.notes[0].find("--directed keeps it"), std::string::npos);
  EXPECT_TRUE(load(dir.write("e.csv", "src,dst\n0,1\n1,2\n")).notes.empty());
}

}  // namespace
}  // namespace graphpae
