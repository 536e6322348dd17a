#include "graphpae/run/data_facts.h"

#include <nlohmann/json.hpp>

#include "graphpae/data/summary.h"

namespace graphpae::run {

using FactsJson = nlohmann::ordered_json;

FactsJson data_facts(const Graph& graph) {
  const GraphSummary s = summarise(graph, CountDuplicates::no);
  FactsJson json = {{"nodes", s.nodes}, {"edges", s.edges}, {"mean_degree", s.mean_degree}, {"features", s.features}};
  if (s.classes > 0) {
    json["classes"] = s.classes;
    json["unlabelled"] = s.unlabelled;
  }
  json["components"] = s.components;
  json["largest_component"] = s.largest_component;
  json["isolated"] = s.isolated;
  if (s.edge_homophily) json["edge_homophily"] = *s.edge_homophily;
  json["splits"] = s.split_sizes.size();
  return json;
}

FactsJson data_facts(const GraphSet& molecules) {
  const GraphSetSummary s = summarise(molecules);
  FactsJson json = {{"molecules", s.molecules}};
  if (s.has_structure) {
    json["mean_atoms"] = s.mean_nodes;
    json["mean_bonds"] = s.mean_edges;
    json["fragmented"] = s.fragmented;
  }
  json["repeated"] = s.repeated_texts;
  json["splits"] = s.split_sizes.size();
  json["tasks"] = FactsJson::array();
  for (const TaskSummary& task : s.tasks) {
    FactsJson one = {{"name", task.name}, {"missing", s.molecules - task.present}, {"binary", task.binary}};
    if (task.binary) {
      one["positives"] = task.positives;
      one["negatives"] = task.present - task.positives;
    } else {
      one["mean"] = task.mean;
      one["deviation"] = task.deviation;
    }
    json["tasks"].push_back(one);
  }
  return json;
}

FactsJson data_facts(const ShardSet& shards) {
  return {{"molecules", shards.manifest().molecules()}, {"shards", shards.num_shards()}};
}

}  // namespace graphpae::run
