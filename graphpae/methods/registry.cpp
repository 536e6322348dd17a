// All methods by the names that setting `method` knows, and what they share.
#include <torch/torch.h>

#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/methods/graph_pae/graph_pae.h"
#include "graphpae/methods/graphmae/graphmae.h"

namespace graphpae {

LearningStep::Place LearningStep::place_of(const GraphInput& input, int64_t mine) const {
  if (input.exchange == nullptr) return {0, mine};
  std::vector<double> counts(static_cast<size_t>(processes->size()));
  const auto own = counts.begin() + processes->rank();
  *own = static_cast<double>(mine);
  processes->sum(counts);
  return {std::accumulate(counts.begin(), own, int64_t{0}), std::accumulate(counts.begin(), counts.end(), int64_t{0})};
}

uint64_t LearningStep::own_key(const GraphInput& input, uint64_t dropout_key) const {
  if (input.exchange == nullptr || processes->rank() == 0) return dropout_key;
  return Rng(dropout_key, static_cast<uint64_t>(processes->rank())).bits(0);
}

torch::Tensor scaled_cosine_error(const torch::Tensor& predicted, const torch::Tensor& target, double gamma) {
  const auto unit = [](const torch::Tensor& x) { return x / x.norm(2, 1, true).clamp_min(1e-12); };
  return (1 - (unit(predicted) * unit(target)).sum(1)).pow(gamma).mean();
}

// One line per method.
std::shared_ptr<Method> make_method(const Settings& settings, const InputShape& shape) {
  if (settings.method == "graphpae") return std::make_shared<GraphPae>(settings, shape);
  if (settings.method == "graphmae") return std::make_shared<GraphMae>(settings, shape);
  throw Error(ErrorKind::internal, "method '" + settings.method + "' has no maker");
}

}  // namespace graphpae
