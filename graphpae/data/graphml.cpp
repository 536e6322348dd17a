#include <fmt/format.h>

#include <algorithm>
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

// <graphml> <key/> <graph> <node> <data/> </node> <edge> <data/> </edge> </graph> </graphml>
class GraphMl : public XmlHandler {
 public:
  explicit GraphMl(const std::string& path) : graph(path) {}

  void open(std::string_view element, const XmlAttributes& attributes) override {
    stack_.push_back({std::string(element), -1});
    if (stack_.size() == 1) {
      if (element != "graphml") throw graph.error(line, fmt::format("element <{}>, expected <graphml>", element));
    } else if (element == "key") {
      key_ = attributes.get("id");
      keys_[key_] = {std::string(attributes.get("attr.name", key_)), std::string(attributes.get("for", "all"))};
    } else if (element == "graph") {
      open_graph(attributes);
    } else if (skipped_ > 0) {
      return;
    } else if (element == "node") {
      if (!attributes.has("id")) throw graph.error(line, "a <node> without an id");
      stack_.back().node = graph.declare(attributes.get("id"), line);
    } else if (element == "edge") {
      open_edge(attributes);
    } else if (element == "hyperedge") {
      throw graph.error(line, "a <hyperedge> joins any number of nodes; only edges between two are read");
    } else if (element == "data") {
      data_key_ = attributes.get("key");
    }
  }

  void close(std::string_view element, std::string_view text) override {
    stack_.pop_back();
    if (element == "graph" && skipped_ > 0) {
      --skipped_;
    } else if (element == "default" && !stack_.empty() && stack_.back().element == "key") {
      const Key& key = keys_[key_];
      if (key.domain == "node" || key.domain == "all") graph.set_default(key.name, std::string(text));
      if (key.domain == "edge" && lower(key.name) == "weight") default_weight_ = parse_real(text).value_or(kNoWeight);
    } else if (skipped_ > 0) {
      return;
    } else if (element == "data" && !stack_.empty()) {
      close_data(text);
    } else if (element == "edge") {
      if (std::isnan(weight_)) weight_ = std::isnan(value_) ? default_weight_ : value_;
      graph.add_edge(ends_.src, ends_.dst, weight_, edge_directed_);
    }
  }

  AttributedGraph graph;
  int64_t graphs = 0, nested = 0;

 private:
  struct Key {
    std::string name, domain;
  };
  struct Open {
    std::string element;
    int32_t node;
  };

  void open_graph(const XmlAttributes& attributes) {
    const bool inside_node =
        std::any_of(stack_.begin(), stack_.end(), [](const Open& o) { return o.element == "node"; });
    if (skipped_ > 0 || (!inside_node && ++graphs > 1)) {
      ++skipped_;
      return;
    }
    nested += inside_node;
    if (!inside_node) directed_ = attributes.get("edgedefault", "undirected") == "directed";
  }

  void open_edge(const XmlAttributes& attributes) {
    if (!attributes.has("source") || !attributes.has("target"))
      throw graph.error(line, "an <edge> without a source or a target");
    ends_ = {graph.mention(attributes.get("source"), line), graph.mention(attributes.get("target"), line)};
    const std::string_view directed = attributes.get("directed", directed_ ? "true" : "false");
    edge_directed_ = directed == "true";
    weight_ = value_ = kNoWeight;
  }

  void close_data(std::string_view text) {
    const auto found = keys_.find(data_key_);
    if (found == keys_.end())
      throw graph.error(line, fmt::format("no <key> with the id '{}'", data_key_.substr(0, 40)));
    const std::string& name = found->second.name;
    const Open& owner = stack_.back();
    if (owner.element == "node" && owner.node >= 0) {
      graph.set(owner.node, name, text);
    } else if (owner.element == "edge") {
      if (!is_weight_name(name)) return graph.ignore_edge_attribute(name);
      const std::optional<double> weight = parse_real(text);
      if (!weight && !is_missing_text(text))
        throw graph.error(line, fmt::format("the weight '{}' is not a number", trim(text).substr(0, 40)));
      (lower(name) == "weight" ? weight_ : value_) = weight.value_or(kNoWeight);
    }
  }

  std::vector<Open> stack_;
  std::unordered_map<std::string, Key> keys_;  // by id
  std::string key_, data_key_;
  int64_t skipped_ = 0;  // depth of <graph> inside one that is not read
  bool directed_ = false, edge_directed_ = false;
  Edge ends_{};
  double weight_ = kNoWeight, value_ = kNoWeight, default_weight_ = kNoWeight;
};

}  // namespace

GraphParts read_graphml(const std::string& path, std::vector<std::string>& notes) {
  GraphMl reader(path);
  read_xml(path, reader);
  if (reader.graphs == 0) throw data_error(fmt::format("{}: no <graph> in it", path));
  if (reader.graphs > 1) notes.push_back(fmt::format("{}: holds {} graphs; the first is read", path, reader.graphs));
  if (reader.nested > 0) notes.push_back(fmt::format("{}: nodes of graphs inside nodes are nodes like others", path));
  return std::move(reader.graph).to_parts(notes);
}

}  // namespace graphpae
