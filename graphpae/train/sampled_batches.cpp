#include "graphpae/train/sampled_batches.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/train/streams.h"

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

SampledBatches::SampledBatches(const PreparedGraph& graph, const Settings& settings, std::shared_ptr<Exchange> exchange)
    : graph_(graph),
      settings_(settings),
      exchange_(std::move(exchange)),
      batch_size_(std::min(settings.batch_size, graph.graph->num_nodes())),
      sampler_(graph.graph->adjacency(), sampling_options(settings)),
      prefetcher_([this](int64_t epoch, int64_t step) { return make(epoch, step); }, steps_per_epoch(),
                  settings.epochs) {}

int64_t SampledBatches::steps_per_epoch() const { return (graph_.graph->num_nodes() + batch_size_ - 1) / batch_size_; }

GraphInput SampledBatches::make(int64_t epoch, int64_t step) {
  if (epoch != shuffled_epoch_) {
    order_ = stream_of(settings_, Stream::order, epoch).permutation(static_cast<int32_t>(graph_.graph->num_nodes()));
    shuffled_epoch_ = epoch;
  }
  const int64_t first = step * batch_size_, count = std::min(batch_size_, static_cast<int64_t>(order_.size()) - first);
  const Part part = part_of(count, exchange_.get());
  const auto seeds = std::span<const int32_t>(order_).subspan(static_cast<size_t>(first + part.first),
                                                              static_cast<size_t>(part.count));
  const Rng rng = stream_of(settings_, Stream::sampling, epoch * steps_per_epoch() + step);
  GraphInput input = sample_input(graph_, sampler_.sample(seeds, rng, Threads{1}));
  input.workspace = workspace_;
  if (part.divided) input.exchange = exchange_;
  return input;
}

}  // namespace graphpae
