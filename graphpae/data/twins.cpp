#include "graphpae/data/twins.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <unordered_set>

namespace graphpae {
namespace {

// A text of bytes that is equal for two nodes exactly if features and neighbourhood are.
std::string fingerprint(const Graph& graph, int64_t node) {
  std::string key;
  const auto append = [&](const auto& values) {
    const int64_t bytes = static_cast<int64_t>(values.size_bytes());
    key.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    key.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  };
  append(graph.adjacency().row(node));
  if (graph.features().is_sparse()) {
    const SparseRow row = graph.features().sparse_row(node);
    append(row.columns);
    append(row.values);
  } else if (graph.features().columns() > 0) {
    append(graph.features().dense_row(node));
  }
  return key;
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

}  // namespace graphpae
