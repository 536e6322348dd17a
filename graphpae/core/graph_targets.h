// Properties of graphs, and how predictions of them are scored.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace graphpae {

// Refers to values that must outlive it.
struct GraphTargets {
  std::vector<std::string> names;  // [T]
  std::span<const double> values;  // [G,T], NaN: missing

  int64_t tasks() const { return static_cast<int64_t>(names.size()); }
  double at(int64_t graph, int64_t task) const { return values[graph * tasks() + task]; }
};

enum class GraphMetric { rmse, rocauc };
const char* metric_name(GraphMetric metric);  // "rmse", "rocauc"

// ROC-AUC if every label present is 0 or 1, RMSE if no task is like that. Throws a data error that names two tasks if
// some are and some are not, or if there are no labels at all or infinite ones. A task without labels is neither.
GraphMetric graph_metric(const GraphTargets& targets);

}  // namespace graphpae
