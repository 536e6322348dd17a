#include "graphpae/data/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_set>

#include "graphpae/io/sha256.h"

namespace graphpae {
namespace {

std::vector<std::array<int64_t, 3>> sizes_of(const std::vector<Split>& splits) {
  std::vector<std::array<int64_t, 3>> sizes;
  for (const Split& split : splits) {
    sizes.push_back({static_cast<int64_t>(split.train.size()), static_cast<int64_t>(split.val.size()),
                     static_cast<int64_t>(split.test.size())});
  }
  return sizes;
}

// A text of bytes that is equal for two nodes exactly if features and neighbourhood are.
std::string fingerprint(const Graph& graph, int64_t node) {
  std::string key;
  const auto append = [&](const auto& values) {
    const int64_t bytes = static_cast<int64_t>(values.size_bytes());
    key.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    key.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  };
  append(graph.adjacency().row(node));
  if (graph.adjacency().has_weights()) append(graph.adjacency().row_weights(node));
  if (graph.features().is_sparse()) {
    const SparseRow row = graph.features().sparse_row(node);
    append(row.columns);
    append(row.values);
  } else if (graph.features().columns() > 0) {
    append(graph.features().dense_row(node));
  }
  return key;
}

Duplicates find_duplicates(const Graph& graph) {
  const Twins twins = find_twins(graph);
  Duplicates result{twins.nodes, twins.groups, 0};
  if (!graph.splits().empty())
    result.test_in_train = static_cast<int64_t>(twins_of_trained(twins, graph.splits()[0]).size());
  return result;
}

std::optional<double> edge_homophily(const Graph& graph) {
  if (graph.labels().empty()) return std::nullopt;
  int64_t equal = 0, known = 0;
  for (int64_t u = 0; u < graph.num_nodes(); ++u) {
    for (const int32_t v : graph.adjacency().row(u)) {
      if (v <= u || graph.labels()[u] == kUnlabelled || graph.labels()[v] == kUnlabelled) continue;
      ++known;
      equal += graph.labels()[u] == graph.labels()[v];
    }
  }
  if (known == 0) return std::nullopt;
  return static_cast<double>(equal) / static_cast<double>(known);
}

template <class T>
void add_array(Sha256& sum, std::string_view name, std::span<const T> values) {
  const int64_t count = static_cast<int64_t>(values.size());
  sum.update(name);
  sum.update(&count, sizeof(count));
  sum.update(values);
}

void add_splits(Sha256& sum, const std::vector<Split>& splits) {
  for (const Split& split : splits) {
    for (std::vector<int32_t> part : {split.train, split.val, split.test}) {
      std::sort(part.begin(), part.end());
      add_array<int32_t>(sum, "split", part);
    }
  }
}

}  // namespace

Twins find_twins(const Graph& graph) {
  // Equal hashes bring candidates together, then fingerprints are compared: little memory, an exact answer.
  std::vector<std::pair<size_t, int32_t>> hashed;
  for (int64_t node = 0; node < graph.num_nodes(); ++node) {
    if (graph.adjacency().degree(node) == 0) continue;
    hashed.emplace_back(std::hash<std::string>()(fingerprint(graph, node)), static_cast<int32_t>(node));
  }
  std::sort(hashed.begin(), hashed.end());
  Twins twins;
  twins.group.assign(static_cast<size_t>(graph.num_nodes()), -1);
  for (size_t begin = 0, end = 0; begin < hashed.size(); begin = end) {
    while (end < hashed.size() && hashed[end].first == hashed[begin].first) ++end;
    if (end - begin < 2) continue;
    std::map<std::string, std::vector<int32_t>> exact;
    for (size_t i = begin; i < end; ++i) exact[fingerprint(graph, hashed[i].second)].push_back(hashed[i].second);
    for (const auto& [key, alike] : exact) {
      if (alike.size() < 2) continue;
      for (const int32_t node : alike) twins.group[node] = static_cast<int32_t>(twins.groups);
      twins.nodes += static_cast<int64_t>(alike.size());
      ++twins.groups;
    }
  }
  return twins;
}

std::vector<int32_t> twins_of_trained(const Twins& twins, const Split& split) {
  std::unordered_set<int32_t> trained;
  for (const int32_t node : split.train) {
    if (twins.group[node] >= 0) trained.insert(twins.group[node]);
  }
  std::vector<int32_t> found;
  for (const int32_t node : split.test) {
    if (twins.group[node] >= 0 && trained.contains(twins.group[node])) found.push_back(node);
  }
  return found;
}

namespace {

void summarise_edges(const Graph& graph, GraphSummary& summary) {
  const Adjacency& adjacency = graph.adjacency();
  summary.weighted = adjacency.has_weights();
  summary.directed = graph.is_directed();
  summary.directed_edges = graph.directed_edges().num_edges();
  summary.reciprocal_edges = graph.directed_edges().num_reciprocal();
  if (!summary.weighted) return;
  const auto weights = adjacency.weights();
  const auto [low, high] = std::minmax_element(weights.begin(), weights.end());
  summary.min_weight = *low;
  summary.max_weight = *high;
  summary.mean_weight = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
  for (int64_t u = 0; u < adjacency.num_nodes(); ++u) {
    for (int64_t e = 0; e < adjacency.degree(u); ++e)
      summary.negative_weights += adjacency.row(u)[e] >= u && adjacency.row_weights(u)[e] < 0;
  }
}

}  // namespace

GraphSummary summarise(const Graph& graph, CountDuplicates duplicates) {
  const Adjacency& adjacency = graph.adjacency();
  GraphSummary summary;
  summary.nodes = graph.num_nodes();
  summary.edges = adjacency.num_edges();
  summary.self_loops = adjacency.num_self_loops();
  summary.edge_rows = graph.num_edge_rows();
  summarise_edges(graph, summary);
  summary.features = graph.features().columns();
  summary.feature_nonzeros = graph.features().nonzeros();
  summary.feature_empty_rows = graph.features().empty_rows();
  summary.features_sparse = graph.features().is_sparse();
  summary.classes = graph.num_classes();
  summary.class_sizes.assign(summary.classes, 0);
  for (const int32_t label : graph.labels()) {
    if (label == kUnlabelled) {
      ++summary.unlabelled;
    } else {
      ++summary.class_sizes[label];
    }
  }
  summary.split_sizes = sizes_of(graph.splits());
  const Components components = connected_components(view_of(adjacency));
  summary.components = static_cast<int64_t>(components.sizes.size());
  summary.largest_component = *std::max_element(components.sizes.begin(), components.sizes.end());
  summary.min_degree = INT64_MAX;
  for (int64_t u = 0; u < summary.nodes; ++u) {
    const auto row = adjacency.row(u);
    const int64_t degree =
        static_cast<int64_t>(row.size()) - std::binary_search(row.begin(), row.end(), static_cast<int32_t>(u));
    summary.min_degree = std::min(summary.min_degree, degree);
    summary.max_degree = std::max(summary.max_degree, degree);
    summary.isolated += degree == 0;
  }
  summary.mean_degree = 2.0 * static_cast<double>(summary.edges) / static_cast<double>(summary.nodes);
  summary.edge_homophily = edge_homophily(graph);
  if (duplicates == CountDuplicates::yes) summary.duplicates = find_duplicates(graph);
  return summary;
}

GraphSetSummary summarise(const GraphSet& set) {
  const GraphSetParts& parts = set.parts();
  GraphSetSummary summary;
  summary.molecules = set.num_graphs();
  summary.split_sizes = sizes_of(parts.splits);
  for (int64_t t = 0; t < set.num_tasks(); ++t) {
    TaskSummary task;
    task.name = parts.task_names[t];
    task.binary = true;
    double sum = 0, squares = 0;
    for (int64_t g = 0; g < summary.molecules; ++g) {
      const double value = parts.targets[g * set.num_tasks() + t];
      if (std::isnan(value)) continue;
      ++task.present;
      task.binary = task.binary && (value == 0 || value == 1);
      task.positives += value == 1;
      sum += value;
    }
    task.binary = task.binary && task.present > 0;
    task.mean = task.present > 0 ? sum / static_cast<double>(task.present) : 0;
    for (int64_t g = 0; g < summary.molecules; ++g) {
      const double value = parts.targets[g * set.num_tasks() + t];
      if (!std::isnan(value)) squares += (value - task.mean) * (value - task.mean);
    }
    task.deviation = task.present > 1 ? std::sqrt(squares / static_cast<double>(task.present - 1)) : 0;
    summary.tasks.push_back(task);
  }
  summary.has_texts = !parts.texts.empty();
  std::unordered_set<std::string_view> seen;
  for (int64_t g = 0; g < parts.texts.size(); ++g) summary.repeated_texts += !seen.insert(parts.texts[g]).second;

  summary.has_structure = set.has_structure();
  if (!summary.has_structure) return summary;
  summary.nodes = set.num_nodes();
  summary.edges = set.num_edges();
  summary.node_code_columns = parts.node_codes.columns;
  summary.edge_code_columns = parts.edge_codes.columns;
  for (int64_t g = 0; g < summary.molecules; ++g) {
    const int64_t nodes = parts.node_offsets[g + 1] - parts.node_offsets[g];
    if (nodes == 0) {
      ++summary.without_nodes;
      continue;
    }
    summary.min_nodes = summary.min_nodes == 0 ? nodes : std::min(summary.min_nodes, nodes);
    summary.max_nodes = std::max(summary.max_nodes, nodes);
    summary.single_node += nodes == 1;
    summary.fragmented += count_fragments(set, g) > 1;
  }
  const double counted = static_cast<double>(std::max<int64_t>(summary.molecules - summary.without_nodes, 1));
  summary.mean_nodes = static_cast<double>(summary.nodes) / counted;
  summary.mean_edges = static_cast<double>(summary.edges) / counted;
  return summary;
}

std::string content_hash(const Graph& graph, HashSplits splits) {
  Sha256 sum;
  sum.update("graphpae graph 1");
  add_array(sum, "offsets", graph.adjacency().offsets());
  add_array(sum, "neighbours", graph.adjacency().neighbours());
  const Features& features = graph.features();
  const int64_t columns = features.columns();
  sum.update(&columns, sizeof(columns));
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (int64_t row = 0; row < features.rows(); ++row) {
    if (features.is_sparse()) {
      add_array(sum, "columns", features.sparse_row(row).columns);
      add_array(sum, "values", features.sparse_row(row).values);
      continue;
    }
    indices.clear();
    values.clear();
    for (int64_t c = 0; c < columns; ++c) {
      if (features.dense_row(row)[c] == 0) continue;
      indices.push_back(static_cast<int32_t>(c));
      values.push_back(features.dense_row(row)[c]);
    }
    add_array<int32_t>(sum, "columns", indices);
    add_array<float>(sum, "values", values);
  }
  add_array<int32_t>(sum, "labels", graph.labels());
  if (graph.adjacency().has_weights()) add_array(sum, "weights", graph.adjacency().weights());
  if (graph.is_directed()) {
    add_array(sum, "directed offsets", graph.directed_edges().offsets());
    add_array(sum, "directed targets", graph.directed_edges().targets());
    add_array(sum, "directed weights", graph.directed_edges().weights());
  }
  if (splits == HashSplits::yes) add_splits(sum, graph.splits());
  return sum.hex();
}

std::string content_hash(const GraphSet& set, HashSplits splits) {
  const GraphSetParts& parts = set.parts();
  Sha256 sum;
  sum.update("graphpae molecules 1");
  sum.update(&parts.num_graphs, sizeof(parts.num_graphs));
  for (int64_t g = 0; g < parts.texts.size(); ++g) {
    sum.update(parts.texts[g]);
    sum.update("\n");
  }
  // Targets as float32, missing ones as one pattern, so that decimal and binary sources agree.
  std::vector<float> targets(parts.targets.begin(), parts.targets.end());
  for (float& target : targets) {
    if (std::isnan(target)) target = std::nanf("");
  }
  add_array<float>(sum, "targets", targets);
  if (splits == HashSplits::yes) add_splits(sum, parts.splits);
  if (parts.texts.empty()) {
    add_array<int64_t>(sum, "nodes", parts.node_offsets);
    add_array<int64_t>(sum, "edges", parts.edge_offsets);
    add_array<Edge>(sum, "edge ends", parts.edges);
    add_array<int16_t>(sum, "node codes", parts.node_codes.values);
    add_array<int16_t>(sum, "edge codes", parts.edge_codes.values);
  }
  return sum.hex();
}

}  // namespace graphpae
