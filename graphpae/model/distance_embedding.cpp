#include "graphpae/model/distance_embedding.h"

#include <torch/torch.h>

#include <cmath>

#include "graphpae/kernels/distance_embedding.h"
#include "graphpae/ops/position_ops.h"

namespace graphpae {

DistanceEmbeddingImpl::DistanceEmbeddingImpl(const Settings& settings, int64_t width, Initialiser& init)
    : density_(settings.gaussian_density) {
  const int64_t g = settings.gaussians;
  means = register_parameter("means", init.uniform({g}, 0, settings.gaussian_range));
  deviations =
      register_parameter("deviations", init.uniform({settings.shared_deviation ? 1 : g}, 0, settings.gaussian_range));
  lift = register_module("lift", Linear(g, g, init));
  project = register_module("project", Linear(g, width, init));
}

torch::Tensor DistanceEmbeddingImpl::forward(const torch::Tensor& distances) {
  const torch::Tensor sigma = deviations.abs() + 1e-5;
  torch::Tensor basis = torch::exp(-0.5 * ((distances.unsqueeze(1) - means) / sigma).square());
  if (density_) basis = basis / (kernels::kGaussianFactor * sigma);
  return project(torch::gelu(lift(basis)));
}

ops::EmbeddingParameters DistanceEmbeddingImpl::parameters_for_ops() const {
  return {means, deviations, lift->weight, lift->bias, project->weight, project->bias, density_};
}

torch::Tensor DistanceEmbeddingImpl::embed_values(const std::vector<float>& values, Threads threads) {
  const torch::NoGradGuard no_grad;
  if (!has_table()) return forward(torch::tensor(values)).contiguous();
  return ops::embed_values(Buffer<float>(values.begin(), values.end()), parameters_for_ops(), threads);
}

DistanceEmbeddingImpl::Pair DistanceEmbeddingImpl::embed(const GraphInput& input, const torch::Tensor& clean,
                                                         const torch::Tensor& corrupted) {
  if (!input.fused() || !has_table())
    return {{forward(clean), {}}, {corrupted.defined() ? forward(corrupted) : torch::Tensor(), {}}};
  const ops::EmbeddingParameters parameters = parameters_for_ops();
  if (!input.is_molecules()) {
    const auto [p, shaken] = ops::embed_distances(input.graph.index, clean, corrupted, parameters, input.threads);
    return {{p, {}}, {shaken, {}}};
  }
  const ops::DistanceRows distances =
      ops::embed_distance_rows(input.graph.index, clean, corrupted, parameters, input.threads);
  const std::span<const int32_t> pair = input.graph.index->pair_of_edge();
  Pair result{{distances.rows, std::make_shared<const std::vector<int32_t>>(pair.begin(), pair.end())}, {}};
  if (distances.corrupted_place != nullptr) {
    std::vector<int32_t> rows;
    for (const int32_t p : pair) rows.push_back((*distances.corrupted_place)[p]);
    result.corrupted = {distances.rows, std::make_shared<const std::vector<int32_t>>(std::move(rows))};
  }
  return result;
}

}  // namespace graphpae
