// Graphs with attributes: GraphML, GEXF, GML, node-link JSON and Pajek, as NetworkX, igraph, Gephi and D3 write them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graphpae/data/load.h"
#include "graphpae/io/atomic_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;
using Texts = std::vector<std::string>;

Texts names_of(const Graph& graph) {
  Texts names;
  for (int64_t node = 0; node < graph.num_nodes(); ++node) names.push_back(graph.node_name(node));
  return names;
}

bool has_note(const Dataset& data, const std::string& part) {
  return std::any_of(data.notes.begin(), data.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

std::string joined(const Texts& notes) {
  std::string all;
  for (const std::string& note : notes) all += note + "\n";
  return all;
}

#define EXPECT_NOTE(data, part) EXPECT_TRUE(has_note(data, part)) << joined((data).notes)

// Four nodes a b c d, a club, a number that c lacks, a flag; directed edges a-b (2.5), b-c (1), c-a (1).
void expect_example(const Dataset& data, bool weighted = true) {
  ASSERT_TRUE(data.is_graph());
  const Graph& graph = data.graph();
  EXPECT_EQ(names_of(graph), (Texts{"a", "b", "c", "d"}));
  EXPECT_EQ(graph.labels(), (std::vector<int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(graph.class_names(), (Texts{"Mr. Hi", "Officer"}));
  EXPECT_NOTE(data, "labels are node attribute 'club', 2 classes (Mr. Hi, Officer)");
  EXPECT_EQ(graph.feature_names(), (Texts{"age", "age is missing", "ok"}));
  ASSERT_EQ(graph.features().columns(), 3);
  std::vector<float> row(3);
  graph.features().copy_row(1, row.data());
  EXPECT_EQ(row, (std::vector<float>{4.5, 0, 1}));
  graph.features().copy_row(2, row.data());
  EXPECT_EQ(row, (std::vector<float>{3, 1, 0}));
  EXPECT_TRUE(graph.is_directed());
  EXPECT_EQ(graph.adjacency().num_edges(), 3);
  EXPECT_EQ(graph.directed_edges().find(0, 1), 0);
  EXPECT_EQ(graph.directed_edges().find(1, 0), -1);
  ASSERT_EQ(graph.adjacency().has_weights(), weighted);
  if (weighted) {
    EXPECT_EQ(graph.adjacency().row_weights(0)[0], 2.5f);
  }
}

constexpr const char* kGraphMl = R"(<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d4" for="edge" attr.name="since" attr.type="long" />
  <key id="d3" for="edge" attr.name="weight" attr.type="double" />
  <key id="d2" for="node" attr.name="ok" attr.type="boolean" />
  <key id="d1" for="node" attr.name="age" attr.type="double" />
  <key id="d0" for="node" attr.name="club" attr.type="string"><default>Officer</default></key>
  <graph edgedefault="directed">
    <node id="a"><data key="d0">Mr. Hi</data><data key="d1">1.5</data><data key="d2">False</data></node>
    <node id="b"><data key="d0">Officer</data><data key="d1">4.5</data><data key="d2">True</data></node>
    <node id="c"><data key="d0">Mr. Hi</data><data key="d2">False</data></node>
    <node id="d"><data key="d1">3</data><data key="d2">True</data></node>
    <edge source="a" target="b"><data key="d3">2.5</data><data key="d4">1999</data></edge>
    <edge source="b" target="c" />
    <edge source="c" target="a"><data key="d3">1</data></edge>
  </graph>
</graphml>
)";

TEST(AttributedFiles, GraphMl) {
  const TempDir dir;
  const Dataset data = load(dir.write("g.graphml", kGraphMl));
  EXPECT_EQ(data.form, "GraphML");
  expect_example(data);
  EXPECT_NOTE(data, "g.graphml: edge attributes are ignored: 'since'");
  EXPECT_NOTE(data, "1 of 3 edges have no weight and get 1");
  EXPECT_NOTE(data,
              "features from node attributes: 'age' (number, 1 missing: the mean, and a column that says so), 'ok'");
  expect_example(load(dir.write("g.graphml.gz", gzip_bytes(kGraphMl))));
  expect_example(load(dir.write("g.xml", kGraphMl)));  // recognised by its first element
}

TEST(AttributedFiles, GraphMlOfIgraphNamesNodesByTheirName) {
  const TempDir dir;
  const Dataset data = load(dir.write("g.graphml", R"(<graphml><key id="v_name" for="node" attr.name="name"/>
<graph edgedefault="undirected"><node id="n0"><data key="v_name">Anna</data></node><node id="n1"><data key="v_name">Ben</data></node>
<edge source="n1" target="n0"/></graph></graphml>)"));
  EXPECT_EQ(names_of(data.graph()), (Texts{"Anna", "Ben"}));
  EXPECT_NOTE(data, "nodes are named by their attribute 'name', because their ids only count");
  EXPECT_FALSE(data.graph().is_directed());
  EXPECT_FALSE(data.graph().adjacency().has_weights());
}

TEST(AttributedFiles, DrawingsAreNoFeatures) {
  const TempDir dir;
  std::string text = "<graphml>";
  for (const char* key : {"r", "g", "b", "x", "y", "size", "degree"})
    text += std::string("<key id='") + key + "' for='node' attr.name='" + key + "'/>";
  text += "<graph>";
  for (const char* id : {"p", "q", "s"}) {
    text += std::string("<node id='") + id + "'>";
    for (const char* key : {"r", "g", "b", "x", "y", "size", "degree"})
      text += std::string("<data key='") + key + "'>" + std::to_string(id[0]) + ".5</data>";
    text += "</node>";
  }
  const Dataset data = load(dir.write("g.graphml", text + "</graph></graphml>"));
  EXPECT_EQ(data.graph().feature_names(), (Texts{"degree"}));
  EXPECT_NOTE(data, "how nodes are drawn is ignored: 'r', 'g', 'b', 'x', 'y', 'size'");
}

TEST(AttributedFiles, Gexf) {
  const TempDir dir;
  const Dataset data = load(dir.write("g.gexf", R"(<?xml version='1.0' encoding='utf-8'?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2" xmlns:viz="http://www.gexf.net/1.2draft/viz">
  <graph defaultedgetype="directed" mode="static" name="x">
    <attributes mode="static" class="edge"><attribute id="4" title="since" type="long" /></attributes>
    <attributes mode="static" class="node">
      <attribute id="0" title="age" type="double" /><attribute id="2" title="ok" type="boolean" />
      <attribute id="1" title="club" type="string"><default>Officer</default></attribute>
    </attributes>
    <nodes>
      <node id="a" label="a"><attvalues><attvalue for="0" value="1.5" /><attvalue for="1" value="Mr. Hi" /><attvalue for="2" value="false" /></attvalues>
        <viz:position x="1" y="2"/></node>
      <node id="b" label="b"><attvalues><attvalue for="0" value="4.5" /><attvalue for="2" value="true" /></attvalues></node>
      <node id="c" label="c"><attvalues><attvalue for="1" value="Mr. Hi" /><attvalue for="2" value="false" /></attvalues></node>
      <node id="d" label="d"><attvalues><attvalue for="0" value="3.0" /><attvalue for="2" value="true" /></attvalues></node>
    </nodes>
    <edges>
      <edge source="a" target="b" id="0" weight="2.5"><attvalues><attvalue for="4" value="1999" /></attvalues></edge>
      <edge source="b" target="c" id="1" /><edge source="c" target="a" id="2" />
    </edges>
  </graph>
</gexf>
)"));
  EXPECT_EQ(data.form, "GEXF");
  expect_example(data);
}

TEST(AttributedFiles, Gml) {
  const TempDir dir;
  const Dataset data = load(dir.write("g.gml", R"(Creator "someone"
# a comment
graph
[
  directed 1
  node [ id 10 label "a" club "Mr. Hi" age 1.5 ok 0 graphics [ x 1.0 fill "#ff0000" ] ]
  node [ id 20 label "b" club "Officer" age 4.5 ok 1 ]
  node [ id 30 label "c" club "Mr. Hi" age NAN ok 0 ]
  node [ id 40 label "d" club "Officer" age 3.0 ok 1 ]
  edge [ source 10 target 20 weight 2.5 ]
  edge [ source 20 target 30 weight 1 ]
  edge [ source 30 target 10 weight 1 ]
]
)"));
  EXPECT_EQ(data.form, "GML");
  EXPECT_EQ(names_of(data.graph()), (Texts{"10", "20", "30", "40"})) << "ids that do not only count stay";
  const std::string counted = R"(graph [ directed 1
node [ id 0 label "a" club "Mr. Hi" age 1.5 ok 0 ] node [ id 1 label "b" club "Officer" age 4.5 ok 1 ]
node [ id 2 label "c" club "Mr. Hi" ok 0 ] node [ id 3 label "d" club "Officer" age 3.0 ok 1 ]
edge [ source 0 target 1 weight 2.5 ] edge [ source 1 target 2 weight 1 ] edge [ source 2 target 0 ] ])";
  expect_example(load(dir.write("h.gml", counted)));
}

TEST(AttributedFiles, GmlTexts) {
  const TempDir dir;
  const Dataset data =
      load(dir.write("g.gml",
                     "graph [ node [ id 1 label \"J\xf6rg &amp; &#233;&bad;\" ] node [ id 2 label \"x\ny\" ]\n"
                     "edge [ source 1 target 2 ] ]"));
  EXPECT_EQ(names_of(data.graph()), (Texts{"J\xc3\xb6rg & \xc3\xa9&bad;", "x\ny"}));
  // A list, as NetworkX writes it: the key again and again.
  const Graph listed =
      load(dir.write("v.gml", "graph [ node [ id 0 x 0.5 x 1 ] node [ id 1 x 2 x 1 ] node [ id 2 x 3.5 x 2 ] ]"))
          .graph();
  EXPECT_EQ(listed.feature_names(), (Texts{"x[0]", "x[1]"}));
  EXPECT_EQ(listed.features().dense_row(2)[0], 3.5f);
}

TEST(AttributedFiles, NodeLinkJson) {
  const TempDir dir;
  for (const char* edges : {"links", "edges"}) {
    const Dataset data =
        load(dir.write("g.json", std::string(R"({"directed": true, "multigraph": false, "graph": {"name": "x"},
"nodes": [{"club": "Mr. Hi", "age": 1.5, "ok": false, "id": "a"}, {"club": "Officer", "age": 4.5, "ok": true, "id": "b"},
          {"club": "Mr. Hi", "age": null, "ok": false, "id": "c"}, {"club": "Officer", "age": 3, "ok": true, "id": "d"}],
")") + edges + R"(": [{"weight": 2.5, "source": "a", "target": "b", "key": 0}, {"source": "b", "target": "c"},
          {"source": "c", "target": "a", "since": 1}]})"));
    EXPECT_EQ(data.form, "node-link JSON");
    expect_example(data);
    EXPECT_NOTE(data, "edge attributes are ignored: 'since'");
  }
}

TEST(AttributedFiles, OtherJson) {
  const TempDir dir;
  // D3: nodes by their place, named by an attribute; edges before nodes.
  const Dataset d3 =
      load(dir.write("g.json", R"({"links":[{"source":2,"target":0,"value":3},{"source":1,"target":0,"value":1}],
"nodes":[{"name":"Myriel","group":1},{"name":"Napoleon","group":2},{"name":"Baptistine","group":1},{"name":"Magloire","group":2}]})"));
  EXPECT_EQ(names_of(d3.graph()), (Texts{"Myriel", "Napoleon", "Baptistine", "Magloire"}));
  EXPECT_EQ(d3.graph().class_names(), (Texts{"1", "2"}));
  EXPECT_EQ(d3.graph().adjacency().row_weights(0)[1], 3);
  // NetworkX: tuples are lists, and ids may be numbers.
  const Dataset grid = load(dir.write(
      "g.json",
      R"({"nodes":[{"id":[0,0]},{"id":[0,1]},{"id":5}],"edges":[{"source":[0,0],"target":[0,1]},{"source":[0,1],"target":5}]})"));
  EXPECT_EQ(names_of(grid.graph()), (Texts{"(0, 0)", "(0, 1)", "5"}));
  EXPECT_EQ(grid.graph().adjacency().num_edges(), 2);
  const Dataset cytoscape = load(dir.write(
      "g.json",
      R"({"elements":{"nodes":[{"data":{"id":"a"},"position":{"x":[[1]]}},{"data":{"id":"b"}},{"data":{"id":"c"}}],
"edges":[{"data":{"source":"a","target":"b","weight":2}},{"data":{"source":"b","target":"c","weight":3}}]}})"));
  ASSERT_TRUE(cytoscape.graph().adjacency().has_weights());
  EXPECT_EQ(cytoscape.graph().adjacency().weights()[0], 2);
  const Dataset pairs = load(dir.write("g.json", R"({"edges":[["x","y"],["y","z"]]})"));
  EXPECT_EQ(names_of(pairs.graph()), (Texts{"x", "y", "z"}));
  EXPECT_NOTE(pairs, "no nodes are listed; they are taken from the edges");
  const Dataset vectors = load(dir.write(
      "g.json",
      R"({"nodes":[{"id":0,"x":[0,1],"y":0},{"id":1,"x":[2,1],"y":1},{"id":2,"x":[1,1],"y":1},{"id":3,"x":[1,3],"y":0}],"links":[]})"));
  EXPECT_EQ(vectors.graph().feature_names(), (Texts{"x[0]", "x[1]"}));
  EXPECT_EQ(vectors.graph().labels(), (std::vector<int32_t>{0, 1, 1, 0}));
  EXPECT_TRUE(vectors.graph().node_names().empty()) << "0, 1, 2, ... are numbers";
}

TEST(AttributedFiles, Pajek) {
  const TempDir dir;
  const Dataset data =
      load(dir.write("g.net",
                     "% as people write it\n*Vertices 4\n1 \"a\" 0.1 0.2 0.5 ellipse club \"Mr. Hi\" ic Red\n"
                     "2 \"b\" 0.1 0.2 0.5 club Officer\n3 c club \"Mr. Hi\"\n4 d club Officer\n"
                     "*Arcs\n1 2 2.5\n*Edges\n2 3\n*Arcslist\n4 1 2\n"));
  const Graph& graph = data.graph();
  EXPECT_EQ(data.form, "Pajek file");
  EXPECT_EQ(names_of(graph), (Texts{"a", "b", "c", "d"}));
  EXPECT_EQ(graph.class_names(), (Texts{"Mr. Hi", "Officer"}));
  EXPECT_EQ(graph.adjacency().num_edges(), 4);
  EXPECT_GE(graph.directed_edges().find(2, 1), 0) << "an edge among arcs leads both ways";
  EXPECT_EQ(graph.directed_edges().find(1, 0), -1);
  EXPECT_NOTE(data, "3 of 4 edges are directed; the others lead both ways");
  EXPECT_NOTE(data, "coordinates of the drawing are ignored");
  const Dataset matrix =
      load(dir.write("g.txt", "*vertices 3\n*matrix\n0 1 0\n1 0 2\n0 2 0\n*Partition x\n*Vertices 3\n1\n1\n2\n"));
  EXPECT_EQ(matrix.form, "Pajek file") << "by its first line";
  EXPECT_EQ(names_of(matrix.graph()), (Texts{"1", "2", "3"})) << "the file counts from 1";
  EXPECT_EQ(matrix.graph().adjacency().num_edges(), 2);
  EXPECT_FALSE(matrix.graph().is_directed());
  EXPECT_NOTE(matrix, "'*Partition' and what follows it is not read");
}

TEST(AttributedFiles, LabelsByTheirName) {
  const TempDir dir;
  const auto read = [&](const std::string& attribute, const Texts& values) {
    std::string text = "{\"edges\":[],\"nodes\":[";
    for (size_t i = 0; i < values.size(); ++i)
      text +=
          (i > 0 ? "," : "") + ("{\"id\":\"n" + std::to_string(i * i) + "\",\"" + attribute + "\":" + values[i] + "}");
    return load(dir.write("g.json", text + "]}"));
  };
  EXPECT_EQ(read("Class", {"2", "-1", "10", "2", "10", "2"}).graph().labels(),
            (std::vector<int32_t>{0, -1, 1, 0, 1, 0}));
  EXPECT_EQ(read("Class", {"2", "-1", "10", "2", "10", "2"}).graph().class_names(), (Texts{"2", "10"}));
  EXPECT_EQ(read("class", {"\"b\"", "\"a\"", "\"None\"", "\"a\"", "\"b\""}).graph().labels(),
            (std::vector<int32_t>{1, 0, -1, 0, 1}));
  EXPECT_TRUE(read("label", {"\"p\"", "\"q\"", "\"r\"", "\"s\""}).graph().labels().empty()) << "names of nodes";
  EXPECT_EQ(read("value", {"1.5", "1.5", "2.5", "2.5"}).graph().feature_names(), (Texts{"value"})) << "not whole";
  EXPECT_EQ(read("colour", {"\"p\"", "\"q\"", "\"q\"", "\"p\""}).graph().feature_names(),
            (Texts{"colour=p", "colour=q"}));
  EXPECT_NOTE(read("bio", {"\"p\"", "\"q\"", "\"r\"", "\"p\""}),
              "node attributes are ignored: 'bio' (texts that hardly repeat)");
  EXPECT_NOTE(read("x", {"[1,2]", "[2,3]", "null", "null", "null"}), "'x' (lists of few nodes)");
  EXPECT_NOTE(read("x", {"[1,2]", "[2,3,4]", "[1,3]"}), "'x' (lists of different lengths)");
  EXPECT_NOTE(read("a", {"1", "null", "null", "null", "null", "null", "null", "null", "null", "null", "null"}),
              "'a' (numbers of few nodes)");
  EXPECT_NOTE(read("size", {"3", "3", "3"}), "'size' (3 for every node)");
}

}  // namespace
}  // namespace graphpae
