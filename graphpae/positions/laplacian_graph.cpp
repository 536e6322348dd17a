#include "graphpae/positions/laplacian_graph.h"

#include <fmt/format.h>

#include <numeric>

#include "graphpae/core/error.h"

namespace graphpae {

double LaplacianGraph::volume() const {
  if (strengths.empty()) return static_cast<double>(neighbours.size());
  return std::accumulate(strengths.begin(), strengths.end(), 0.0);
}

std::vector<double> row_strengths(const Adjacency& graph) {
  std::vector<double> strengths(static_cast<size_t>(graph.num_nodes()), 0.0);
  for (int64_t u = 0; u < graph.num_nodes(); ++u) {
    const auto row = graph.row(u);
    const auto weights = graph.row_weights(u);
    for (size_t e = 0; e < row.size(); ++e) {
      if (!(weights[e] > 0))
        throw data_error(
            fmt::format("the edge between nodes {} and {} has weight {}: weights must be above 0, or set "
                        "weights=ignore",
                        u, row[e], weights[e]));
      strengths[static_cast<size_t>(u)] += weights[e];
    }
  }
  return strengths;
}

}  // namespace graphpae
