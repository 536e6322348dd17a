// Files with attributes that are wrong: errors name the file and the line or element, and nothing hurts.
#include <gtest/gtest.h>

#include <string>

#include "graphpae/data/load.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(AttributedErrors, GraphMl) {
  const TempDir dir;
  const auto read = [&](const std::string& text) { load(dir.write("g.graphml", text)); };
  EXPECT_DATA_ERROR(read(""), "g.graphml:1: not well-formed XML: no element found");
  EXPECT_DATA_ERROR(read("<graphml>\n<graph>\n<node id='a'>\n</graph></graphml>"), "g.graphml:4: not well-formed XML");
  EXPECT_DATA_ERROR(read("<html></html>"), "is XML with <html>, expected <graphml> or <gexf>");
  EXPECT_DATA_ERROR(read("<graphml/>"), "no <graph> in it");
  EXPECT_DATA_ERROR(read("<graphml><graph/></graphml>"), "the graph has no nodes");
  EXPECT_DATA_ERROR(read("<graphml><graph>\n<node/></graph></graphml>"), "g.graphml:2: a <node> without an id");
  EXPECT_DATA_ERROR(read("<graphml><graph><node id='a'/>\n<node id='a'/></graph></graphml>"),
                    "g.graphml:2: a second node 'a'");
  EXPECT_DATA_ERROR(read("<graphml><graph><node id='a'/>\n<edge source='a'/></graph></graphml>"),
                    ":2: an <edge> without");
  EXPECT_DATA_ERROR(read("<graphml><graph><node id='a'/>\n\n<edge source='a' target='b'/></graph></graphml>"),
                    "g.graphml:3: an edge joins node 'b', but there is no such node");
  EXPECT_DATA_ERROR(read("<graphml><graph><node id='a'>\n<data key='k'>1</data></node></graph></graphml>"),
                    ":2: no <key> with the id 'k'");
  EXPECT_DATA_ERROR(
      read("<graphml><key id='w' for='edge' attr.name='weight'/><graph><node id='a'/><edge source='a' target='a'>\n"
           "<data key='w'>much</data></edge></graph></graphml>"),
      "g.graphml:2: the weight 'much' is not a number");
  EXPECT_DATA_ERROR(read("<graphml><graph><hyperedge/></graph></graphml>"), "a <hyperedge> joins any number of nodes");
}

// Entities that grow, files outside, deep nesting.
TEST(AttributedErrors, HostileXml) {
  const TempDir dir;
  const auto read = [&](const std::string& text) { load(dir.write("g.graphml", text)); };
  std::string laughs = "<!DOCTYPE graphml [\n<!ENTITY a0 \"ha\">\n";
  for (int i = 1; i < 30; ++i)
    laughs += "<!ENTITY a" + std::to_string(i) + " \"" + repeated("&a" + std::to_string(i - 1) + ";", 10) + "\">\n";
  EXPECT_DATA_ERROR(read(laughs + "]><graphml><graph><node id='&a29;'/></graph></graphml>"),
                    "g.graphml:2: declares an entity 'a0'");
  const std::string secret = dir.write("secret", "x");
  EXPECT_DATA_ERROR(read("<!DOCTYPE graphml [<!ENTITY s SYSTEM \"" + secret +
                         "\">]><graphml><graph><node id='&s;'/></graph></graphml>"),
                    "declares an entity 's'");
  EXPECT_DATA_ERROR(read("<graphml>" + repeated("<a>", 20000)), "nested deeper than");
  load(dir.write("ok.graphml",
                 "<!DOCTYPE graphml SYSTEM \"http://nowhere.invalid/graphml.dtd\"><graphml><graph><node "
                 "id='a'/></graph></graphml>"));
}

TEST(AttributedErrors, Gexf) {
  const TempDir dir;
  const auto read = [&](const std::string& text) { load(dir.write("g.gexf", text)); };
  EXPECT_DATA_ERROR(read("<gexf></gexf>"), "no <graph> in it");
  EXPECT_DATA_ERROR(read("<gexf><graph><nodes><node id='a'><attvalues>\n<attvalue for='7' "
                         "value='1'/></attvalues></node></nodes></graph></gexf>"),
                    "g.gexf:2: no <attribute> of nodes with the id '7'");
  EXPECT_DATA_ERROR(read("<gexf><graph><nodes><node id='a'/></nodes><edges>\n<edge source='a' target='a' "
                         "weight='x'/></edges></graph></gexf>"),
                    "g.gexf:2: the weight 'x' is not a number");
}

TEST(AttributedErrors, Gml) {
  const TempDir dir;
  const auto read = [&](const std::string& text) { load(dir.write("g.gml", text)); };
  EXPECT_DATA_ERROR(read(""), "no 'graph [' in it");
  EXPECT_DATA_ERROR(read("graph [\nnode [ label \"a\" ] ]"), "g.gml:2: a node without an id");
  EXPECT_DATA_ERROR(read("graph [ node [ id 1 ] ]\n]"), "g.gml:2: a ']' without a '['");
  EXPECT_DATA_ERROR(read("\ngraph [ node [ id 1 ]"), "g.gml:2: a '[' is not closed");
  EXPECT_DATA_ERROR(read("graph [\nnode [ id 1 label \"x ] ]"), "g.gml:2: a quote is not closed");
  EXPECT_DATA_ERROR(read("graph [\n\nnode [ id ] ]"), "g.gml:3: 'id' has no value");
  EXPECT_DATA_ERROR(read("graph [ node [ id 1 ]\nedge [ source 1 ] ]"),
                    "g.gml:2: an edge without a source or a target");
  EXPECT_DATA_ERROR(read("graph [ node [ id 1 ]\nedge [ source 1 target 2 ] ]"), "g.gml:2: an edge joins node '2'");
  EXPECT_DATA_ERROR(read(repeated("a [ ", 5000)), "nested deeper than");
}

TEST(AttributedErrors, Json) {
  const TempDir dir;
  const auto read = [&](const std::string& text) { load(dir.write("g.json", text)); };
  EXPECT_DATA_ERROR(read(""), "g.json: ");
  EXPECT_DATA_ERROR(read("[1, 2]"), "g.json: is a list, expected node-link JSON");
  EXPECT_DATA_ERROR(read("{\"a\": 1}"), "neither 'nodes' nor 'links' nor 'edges'");
  EXPECT_DATA_ERROR(read("{\"nodes\": [\n{\"id\": 1},\n{\"id\" 2}]}"), "line 3");
  EXPECT_DATA_ERROR(read("{\"nodes\":[{\"id\":\"a\"}],\"links\":[{\"source\":\"a\",\"target\":\"a\"},{\"source\":\"a\","
                         "\"target\":\"b\"}]}"),
                    "g.json: links[1]: an edge joins node 'b', but there is no such node");
  EXPECT_DATA_ERROR(read("{\"nodes\":[{\"id\":\"a\"},{\"id\":\"a\"}]}"), "g.json: nodes[1]: a second node 'a'");
  EXPECT_DATA_ERROR(read("{\"nodes\":[],\"edges\":[{\"source\":1}]}"), "g.json: edges[0]: has no source or no target");
  EXPECT_DATA_ERROR(read("{\"edges\":[[1]]}"), "g.json: edges[0]: expected [source, target]");
  EXPECT_DATA_ERROR(read("{\"edges\":[{\"source\":1,\"target\":2,\"weight\":\"x\"}]}"),
                    "edges[0]: the weight 'x' is not a number");
  EXPECT_DATA_ERROR(read("{\"a\":" + repeated("[", 100000)), "nested deeper than");
}

TEST(AttributedErrors, TooManyAttributes) {
  const TempDir dir;
  std::string text = "{\"edges\":[],\"nodes\":[{\"id\":0";
  for (int i = 0; i < 1025; ++i) text += ",\"a" + std::to_string(i) + "\":1";
  EXPECT_DATA_ERROR(load(dir.write("g.json", text + "}]}")), "g.json: nodes have more than 1024 different attributes");
}

TEST(AttributedErrors, Pajek) {
  const TempDir dir;
  const auto read = [&](const std::string& text) { load(dir.write("g.net", text)); };
  EXPECT_DATA_ERROR(read(""), "no *Vertices in it");
  EXPECT_DATA_ERROR(read("1 2\n"), "g.net:1: '1 2' stands before *Vertices");
  EXPECT_DATA_ERROR(read("*Vertices x\n"), "g.net:1: *Vertices 'x', expected their number");
  EXPECT_DATA_ERROR(read("*Vertices 2\n1 \"a\n"), "g.net:2: a quote is not closed");
  EXPECT_DATA_ERROR(read("*Vertices 2\n3 c\n"), "g.net:2: vertex 3 is outside 1..2");
  EXPECT_DATA_ERROR(read("*Vertices 2\n1 a\n1 b\n"), "g.net:3: a second line for vertex 1");
  EXPECT_DATA_ERROR(read("*Vertices 2\n*Edges\n1\n"), "g.net:3: two vertex numbers are expected");
  EXPECT_DATA_ERROR(read("*Vertices 2\n*Edges\n0 1\n"), "g.net:3: vertex 0 is outside 1..2");
  EXPECT_DATA_ERROR(read("*Vertices 2\n*Matrix\n0 1\n"), "*Matrix has 1 rows, expected 2");
  EXPECT_DATA_ERROR(read("*Vertices 2000000000\n*Edges\n1 2\n"), "*Vertices 2000000000, but 0 are listed and 1 edges");
}

TEST(AttributedErrors, FormsThatAreNotRead) {
  const TempDir dir;
  EXPECT_DATA_ERROR(load(dir.write("t.parquet", "PAR1xxxxPAR1")),
                    "t.parquet: is Parquet, which is not read; python3 -c");
  EXPECT_DATA_ERROR(load(dir.write("t.csv", "PAR1xxxxPAR1")), "is Parquet");
  EXPECT_DATA_ERROR(load(dir.write("t.xlsx", "PK")), "is a spreadsheet");
  EXPECT_DATA_ERROR(load(dir.write("t.gpickle", "x")), "is a pickle of Python, which runs code");
}

}  // namespace
}  // namespace graphpae
