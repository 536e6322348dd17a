#include <fmt/format.h>

#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/data/attributed_graph.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/data/xml.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

// <gexf> <graph> <attributes> <attribute/> </attributes> <nodes> <node> <attvalues> <attvalue/> ... <edges> <edge> ...
class Gexf : public XmlHandler {
 public:
  explicit Gexf(const std::string& path) : graph(path) {}

  void open(std::string_view element, const XmlAttributes& attributes) override {
    if (++depth_ == 1 && element != "gexf")
      throw graph.error(line, fmt::format("element <{}>, expected <gexf>", element));
    if (element == "graph") {
      ++graphs;
      directed_ = attributes.get("defaultedgetype", "undirected") == "directed";
    } else if (element == "attributes") {
      of_nodes_ = attributes.get("class", "node") == "node";
      changing_ = attributes.get("mode", "static") == "dynamic";
    } else if (element == "attribute") {
      attribute_ = attributes.get("id");
      (of_nodes_ ? node_attributes_ : edge_attributes_)[attribute_] = {std::string(attributes.get("title", attribute_)),
                                                                       changing_};
      changing += changing_;
    } else if (element == "node") {
      if (!attributes.has("id")) throw graph.error(line, "a <node> without an id");
      nodes_.push_back(graph.declare(attributes.get("id"), line));
      if (attributes.has("label")) graph.set(nodes_.back(), "label", attributes.get("label"));
    } else if (element == "edge") {
      open_edge(attributes);
    } else if (element == "attvalue") {
      value_of(attributes);
    }
  }

  void close(std::string_view element, std::string_view text) override {
    --depth_;
    if (element == "node" && !nodes_.empty()) nodes_.pop_back();
    if (element == "default" && of_nodes_ && !changing_) {
      const auto found = node_attributes_.find(attribute_);
      if (found != node_attributes_.end()) graph.set_default(found->second.title, std::string(text));
    }
    if (element == "edge" && in_edge_) {
      graph.add_edge(ends_.src, ends_.dst, std::isnan(weight_) ? value_ : weight_, edge_directed_);
      in_edge_ = false;
    }
  }

  AttributedGraph graph;
  int64_t graphs = 0, changing = 0;

 private:
  struct Attribute {
    std::string title;
    bool changes = false;  // with time
  };

  double weight_from(std::string_view text) {
    const std::optional<double> weight = parse_real(text);
    if (!weight && !is_missing_text(text))
      throw graph.error(line, fmt::format("the weight '{}' is not a number", text.substr(0, 40)));
    return weight.value_or(kNoWeight);
  }

  void open_edge(const XmlAttributes& attributes) {
    if (!attributes.has("source") || !attributes.has("target"))
      throw graph.error(line, "an <edge> without a source or a target");
    ends_ = {graph.mention(attributes.get("source"), line), graph.mention(attributes.get("target"), line)};
    const std::string_view type = attributes.get("type", directed_ ? "directed" : "undirected");
    edge_directed_ = type == "directed";
    weight_ = weight_from(attributes.get("weight"));
    value_ = kNoWeight;
    in_edge_ = true;
  }

  // for=... in versions 1.1 to 1.3, id=... in 1.0
  void value_of(const XmlAttributes& attributes) {
    const std::string id(attributes.get("for", attributes.get("id")));
    const std::string_view value = attributes.get("value");
    const auto& known = in_edge_ ? edge_attributes_ : node_attributes_;
    const auto found = known.find(id);
    if (found == known.end())
      throw graph.error(
          line, fmt::format("no <attribute> of {} with the id '{}'", in_edge_ ? "edges" : "nodes", id.substr(0, 40)));
    if (found->second.changes) return;
    const std::string& title = found->second.title;
    if (in_edge_) {
      if (title == "networkx_key") return;  // tells the edges of a multigraph apart
      if (!is_weight_name(title)) return graph.ignore_edge_attribute(title);
      if (std::isnan(value_)) value_ = weight_from(value);
    } else if (!nodes_.empty()) {
      graph.set(nodes_.back(), title, value);
    }
  }

  std::unordered_map<std::string, Attribute> node_attributes_, edge_attributes_;  // by id
  std::vector<int32_t> nodes_;  // that are open: a node may hold others
  std::string attribute_;
  int64_t depth_ = 0;
  bool of_nodes_ = true, changing_ = false, directed_ = false, edge_directed_ = false, in_edge_ = false;
  Edge ends_{};
  double weight_ = kNoWeight, value_ = kNoWeight;
};

}  // namespace

GraphParts read_gexf(const std::string& path, std::vector<std::string>& notes) {
  Gexf reader(path);
  read_xml(path, reader);
  if (reader.graphs == 0) throw data_error(fmt::format("{}: no <graph> in it", path));
  if (reader.graphs > 1) throw data_error(fmt::format("{}: holds {} graphs, expected one", path, reader.graphs));
  if (reader.changing > 0)
    notes.push_back(fmt::format("{}: attributes that change with time are ignored ({})", path, reader.changing));
  return std::move(reader.graph).to_parts(notes);
}

}  // namespace graphpae
