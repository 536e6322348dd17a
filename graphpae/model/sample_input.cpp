#include "graphpae/model/sample_input.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

#include "graphpae/core/error.h"

namespace graphpae {

SamplingOptions sampling_options(const Settings& settings) {
  SamplingOptions options{settings.fanout, settings.sample_replace};
  const auto layers = static_cast<size_t>(settings.layers);
  if (options.fanout.empty()) options.fanout.assign(layers, 0);
  if (options.fanout.size() != layers)
    throw usage_error(fmt::format("fanout has {} numbers for {} layers", options.fanout.size(), layers));
  return options;
}

GraphInput sample_input(const PreparedGraph& graph, const SampledNeighbourhood& sample) {
  const size_t layers = sample.reach.size() - 1;
  GraphInput input;
  input.seeds = sample.reach[0];
  for (size_t l = 0; l < layers; ++l) {
    const int64_t makes = sample.reach[layers - 1 - l];
    input.layers.emplace_back(EdgeIndex::from_sample(std::span(sample.offsets).first(static_cast<size_t>(makes + 1)),
                                                     sample.sources, sample.reach[layers - l]));
  }
  input.graph = input.layers[0];
  input.features = NodeFeatures(std::make_shared<const Features>(graph.features->gather(sample.nodes)));
  input.threads = graph.threads;
  input.kernels = graph.kernels;
  if (graph.positions.defined()) {
    const int64_t k = graph.positions.size(1);
    input.positions = torch::empty({static_cast<int64_t>(sample.nodes.size()), k}, torch::kFloat64);
    const double* from = graph.positions.data_ptr<double>();
    double* to = input.positions.data_ptr<double>();
    for (const int32_t node : sample.nodes) to = std::copy_n(from + node * k, k, to);
    input.distances = edge_distances(input.graph, input.positions, torch::kFloat32, Threads{1});
  }
  return input;
}

}  // namespace graphpae
