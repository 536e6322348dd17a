#include "graphpae/core/graph_targets.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "graphpae/core/error.h"

namespace graphpae {

const char* metric_name(GraphMetric metric) { return metric == GraphMetric::rmse ? "rmse" : "rocauc"; }

GraphMetric graph_metric(const GraphTargets& targets) {
  std::optional<int64_t> of_classes, of_numbers;  // the first task of each kind
  for (int64_t t = 0; t < targets.tasks(); ++t) {
    bool present = false, classes = true;
    for (size_t i = static_cast<size_t>(t); i < targets.values.size(); i += targets.names.size()) {
      const double label = targets.values[i];
      if (std::isnan(label)) continue;
      if (std::isinf(label)) throw data_error(fmt::format("task {} has an infinite label", targets.names[t]));
      present = true;
      classes = classes && (label == 0 || label == 1);
    }
    if (!present) continue;
    std::optional<int64_t>& first = classes ? of_classes : of_numbers;
    if (!first) first = t;
  }
  if (!of_classes && !of_numbers) throw data_error("the data have no labels: nothing to evaluate");
  if (of_classes && of_numbers) {
    throw data_error(
        fmt::format("task {} has labels 0 and 1 only, task {} has others: classes and numbers have no common "
                    "score; --tasks chooses",
                    targets.names[*of_classes], targets.names[*of_numbers]));
  }
  return of_classes ? GraphMetric::rocauc : GraphMetric::rmse;
}

}  // namespace graphpae
