#include "graphpae/settings/default_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace graphpae {
namespace {

constexpr double kSeconds = 40;  // of training, so that all of it takes less than a minute
constexpr int64_t kMostEpochs = 300, kSmall = 10'000;

}  // namespace

double epoch_seconds(const Graph& graph, int64_t width) {
  const double nodes = static_cast<double>(graph.num_nodes()),
               edges = static_cast<double>(graph.adjacency().num_edges()),
               values = static_cast<double>(graph.features().nonzeros()), columns = static_cast<double>(width);
  return (1e-7 * nodes * columns + 7.5e-7 * edges + 5e-10 * values * columns) / 1.8;
}

Settings default_settings(const Graph& graph, Settings s) {
  s.node_features = FeatureSource::automatic;
  if (!s.row_normalize) s.scale = Scale::automatic;
  s.drop_constant = true;
  s.skip_zero_eigenvalues = true;
  s.eigenvectors = std::min(s.eigenvectors, std::max<int64_t>(1, graph.num_nodes() - 2));
  const double affordable = 10 * std::floor(kSeconds / epoch_seconds(graph, s.width) / 10);
  const int64_t least = graph.num_nodes() < kSmall ? 10 : 50;
  const int64_t epochs = affordable > kMostEpochs ? kMostEpochs : static_cast<int64_t>(affordable);
  s.epochs = std::min(s.epochs, std::max(least, epochs));
  return s;
}

Settings default_settings(const Graph& graph) {
  Settings s;
  s.width = 256;
  s.mask_ratio = 0.5;
  s.dropout = 0.2;
  s.gamma = 3;
  s.weight_decay = 2e-4;
  return default_settings(graph, s);
}

std::string describe_defaults(const Settings& s) {
  std::string text = fmt::format("width {}, {} layers, {} epochs, mask_ratio {}, dropout {}, gamma {}, weight_decay {}",
                                 s.width, s.layers, s.epochs, s.mask_ratio, s.dropout, s.gamma, s.weight_decay);
  if (s.use_positions) text += fmt::format(", {} eigenvectors", s.eigenvectors);
  if (s.use_positions && s.skip_zero_eigenvalues) text += " without those of eigenvalue 0 (skip_zero_eigenvalues)";
  return text;
}

}  // namespace graphpae
