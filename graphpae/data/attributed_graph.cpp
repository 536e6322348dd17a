#include "graphpae/data/attributed_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/data/attributes.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr size_t kMostAttributes = 1024;

// 0, 1, 2, ... or 1, 2, 3, ..., with or without one letter in front (n0, n1, ...): numbers a program gave.
bool only_count(const TextColumn& names) {
  std::optional<int64_t> first;
  for (int64_t i = 0; i < names.size(); ++i) {
    std::string_view name = names[i];
    if (name.size() > 1 && name[0] == 'n') name.remove_prefix(1);
    const std::optional<int64_t> number = parse_int(name);
    if (!first) first = number;
    if (!number || (*first != 0 && *first != 1) || *number != *first + i) return false;
  }
  return true;
}

bool are_numbers_from_zero(const TextColumn& names) {
  for (int64_t i = 0; i < names.size(); ++i) {
    if (names[i] != std::to_string(i)) return false;
  }
  return true;
}

}  // namespace

bool is_weight_name(std::string_view name) {
  const std::string word = lower(name);
  return word == "weight" || word == "value";
}

Error AttributedGraph::error(int64_t line, const std::string& message) const { return place_error("", line, message); }

Error AttributedGraph::place_error(const std::string& list, int64_t place, const std::string& message) const {
  return data_error(list.empty() ? fmt::format("{}:{}: {}", path_, place, message)
                                 : fmt::format("{}: {}[{}]: {}", path_, list, place, message));
}

int32_t AttributedGraph::key_of(std::string_view name, int64_t place) {
  const auto [found, is_new] = keys_.try_emplace(std::string(name), static_cast<int32_t>(names_.size()));
  if (is_new) {
    if (static_cast<int64_t>(names_.size()) >= kMaxNodes - 1) throw place_error(node_list_, place, "too many nodes");
    names_.push_back(found->first);
    places_.push_back(place);
    numbers_.push_back(-1);
  }
  return found->second;
}

int32_t AttributedGraph::declare(std::string_view name, int64_t place) {
  const int32_t key = key_of(name, place);
  if (numbers_[key] >= 0) throw place_error(node_list_, place, fmt::format("a second node '{}'", name.substr(0, 40)));
  numbers_[key] = static_cast<int32_t>(declared_.size());
  declared_.push_back(key);
  return key;
}

int32_t AttributedGraph::mention(std::string_view name, int64_t place) { return key_of(name, place); }

void AttributedGraph::set(int32_t node, std::string_view attribute, std::string_view value) {
  const auto [found, is_new] = column_of_.try_emplace(std::string(attribute), columns_.size());
  if (is_new) {
    if (columns_.size() >= kMostAttributes)
      throw data_error(fmt::format("{}: nodes have more than {} different attributes", path_, kMostAttributes));
    columns_.push_back({std::string(attribute), {}, {}});
  }
  AttributeColumn& column = columns_[found->second];
  column.nodes.push_back(node);
  column.values.push_back(value);
}

void AttributedGraph::add_edge(int32_t src, int32_t dst, double weight, bool directed) {
  if (!std::isnan(weight) && weights_.empty()) weights_.resize(edges_.size(), static_cast<float>(kNoWeight));
  edges_.push_back({src, dst});
  if (!std::isnan(weight) || !weights_.empty()) weights_.push_back(static_cast<float>(weight));
  directed_.push_back(directed);
  num_directed_ += directed;
}

void AttributedGraph::number_nodes() {
  if (declared_.empty()) {
    for (int32_t key = 0; key < static_cast<int32_t>(names_.size()); ++key) {
      numbers_[key] = key;
      declared_.push_back(key);
    }
  }
  for (size_t key = 0; key < names_.size(); ++key) {
    if (numbers_[key] < 0)
      throw place_error(edge_list_, places_[key],
                        fmt::format("an edge joins node '{}', but there is no such node", names_[key].substr(0, 40)));
  }
  for (Edge& edge : edges_) edge = {numbers_[edge.src], numbers_[edge.dst]};
  for (AttributeColumn& column : columns_) {
    for (int32_t& node : column.nodes) node = numbers_[node];
  }
}

void AttributedGraph::add_edges(GraphParts& parts, std::vector<std::string>& notes) {
  std::vector<std::string> others;
  for (const auto& [name, count] : edge_attributes_) others.push_back(fmt::format("'{}'", name));
  if (!others.empty())
    notes.push_back(fmt::format("{}: edge attributes are ignored: {}", path_, fmt::join(others, ", ")));

  const auto missing = std::count_if(weights_.begin(), weights_.end(), [](float w) { return std::isnan(w); });
  for (float& weight : weights_) weight = std::isnan(weight) ? 1 : weight;
  if (std::all_of(weights_.begin(), weights_.end(), [](float w) { return w == 1; })) weights_.clear();
  if (!weights_.empty() && missing > 0)
    notes.push_back(
        fmt::format("{}: {} of {} edges have no weight and get 1", path_, grouped(missing), grouped(num_edges())));

  const auto [least, most] = std::minmax_element(weights_.begin(), weights_.end());
  if (!weights_.empty() && *least < *most)
    notes.push_back(fmt::format("{}: edges have weights, {:.4g} to {:.4g}", path_, *least, *most));

  parts.directed = num_directed_ > 0;
  Buffer<Edge> edges;
  Buffer<float> weights;
  for (size_t e = 0; e < edges_.size(); ++e) {
    edges.push_back(edges_[e]);
    if (!weights_.empty()) weights.push_back(weights_[e]);
    if (!parts.directed || directed_[e] || edges_[e].src == edges_[e].dst) continue;
    edges.push_back({edges_[e].dst, edges_[e].src});  // an undirected one among directed ones leads both ways
    if (!weights_.empty()) weights.push_back(weights_[e]);
  }
  if (parts.directed && num_directed_ < num_edges())
    notes.push_back(fmt::format("{}: {} of {} edges are directed; the others lead both ways", path_,
                                grouped(num_directed_), grouped(num_edges())));
  if (!weights.empty()) parts.weights.push_back(std::move(weights));
  parts.edges.push_back(std::move(edges));
}

GraphParts AttributedGraph::to_parts(std::vector<std::string>& notes) && {
  const bool undeclared = declared_.empty() && !names_.empty();
  number_nodes();
  if (undeclared) notes.push_back(fmt::format("{}: no nodes are listed; they are taken from the edges", path_));
  GraphParts parts;
  parts.num_nodes = num_declared();
  TextColumn names;
  for (const int32_t key : declared_) names.push_back(names_[key]);
  std::vector<NodeAttribute> attributes;
  for (AttributeColumn& column : columns_) {
    const auto found = defaults_.find(column.name);
    attributes.push_back({std::move(column), found == defaults_.end() ? "" : found->second});
  }
  AttributeReport report = use_attributes(std::move(attributes), names, only_count(names), parts);
  for (const std::string& note : report.notes) notes.push_back(fmt::format("{}: {}", path_, note));
  if (!report.names.empty()) names = std::move(report.names);
  if (!are_numbers_from_zero(names)) parts.node_names = std::move(names);
  add_edges(parts, notes);
  return parts;
}

}  // namespace graphpae
