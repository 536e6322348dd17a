// AttributedGraph: a graph as files with attributes hold it (GraphML, GEXF, GML, JSON, Pajek): nodes by name, edges
// with or without a weight and a direction, and columns of texts about the nodes. What becomes of the columns:
// attributes.h.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/core/graph.h"
#include "graphpae/core/text_column.h"

namespace graphpae {

inline constexpr double kNoWeight = std::numeric_limits<double>::quiet_NaN();

struct AttributeColumn {
  std::string name;
  std::vector<int32_t> nodes;  // [V] whose value it is; a node with several values has a list
  TextColumn values;           // [V]
};

class AttributedGraph {
 public:
  // Places of nodes and edges in messages are lines, "file.gml:7", or elements of lists, "file.json: links[7]".
  explicit AttributedGraph(std::string path) : path_(std::move(path)) {}
  void call_nodes(const std::string& list) { node_list_ = list; }
  void call_edges(const std::string& list) { edge_list_ = list; }

  // Nodes may be mentioned by edges before they are declared; they are numbered in the order of declarations. The
  // result is a key for the functions below. Throws a data error for a second declaration of a name.
  int32_t declare(std::string_view name, int64_t place);
  int32_t mention(std::string_view name, int64_t place);

  // A text about a node; a second one makes a list. Edges have texts, too, which only notes mention.
  void set(int32_t node, std::string_view attribute, std::string_view value);
  void set_default(const std::string& attribute, const std::string& value) { defaults_[attribute] = value; }
  void ignore_edge_attribute(std::string_view name) { ++edge_attributes_[std::string(name)]; }

  void add_edge(int32_t src, int32_t dst, double weight, bool directed);

  int64_t num_declared() const { return static_cast<int64_t>(declared_.size()); }
  int64_t num_edges() const { return static_cast<int64_t>(edges_.size()); }
  const std::string& path() const { return path_; }
  Error error(int64_t line, const std::string& message) const;  // "path:line: message"

  // The graph: node names, edges, features and labels from attributes. `notes` says what was taken for what. Throws a
  // data error for an edge to a node that was never declared, unless none was.
  GraphParts to_parts(std::vector<std::string>& notes) &&;

 private:
  Error place_error(const std::string& list, int64_t place, const std::string& message) const;
  int32_t key_of(std::string_view name, int64_t place);
  void number_nodes();  // keys become numbers of nodes everywhere
  void add_edges(GraphParts& parts, std::vector<std::string>& notes);

  std::string path_, node_list_, edge_list_;
  std::unordered_map<std::string, int32_t> keys_;
  std::vector<std::string_view> names_;  // [keys] into keys_
  std::vector<int64_t> places_;          // [keys] of the first mention
  std::vector<int32_t> numbers_;         // [keys] of declared nodes, -1
  std::vector<int32_t> declared_;        // keys in the order of declarations
  std::vector<AttributeColumn> columns_;
  std::unordered_map<std::string, size_t> column_of_;
  std::map<std::string, std::string> defaults_;
  std::map<std::string, int64_t> edge_attributes_;
  Buffer<Edge> edges_;          // of keys
  std::vector<float> weights_;  // [edges], NaN where none was given; empty if none ever was
  std::vector<bool> directed_;  // [edges]
  int64_t num_directed_ = 0;
};

// Whether an attribute of edges is their weight, by its name: weight before value.
bool is_weight_name(std::string_view name);

}  // namespace graphpae
