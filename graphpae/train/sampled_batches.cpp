#include "graphpae/train/sampled_batches.h"

#include <numeric>

#include "graphpae/settings/streams.h"

namespace graphpae {
namespace {

std::vector<int32_t> all_nodes(const Graph& graph) {
  std::vector<int32_t> nodes(static_cast<size_t>(graph.num_nodes()));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

}  // namespace

SampledBatches::SampledBatches(const PreparedGraph& graph, const Settings& settings, std::shared_ptr<Exchange> exchange)
    : graph_(graph),
      settings_(settings),
      exchange_(std::move(exchange)),
      batches_(all_nodes(*graph.graph), settings),
      sampler_(graph.graph->adjacency(), sampling_options(settings)),
      prefetcher_([this](int64_t epoch, int64_t step) { return make(epoch, step); }, steps_per_epoch(),
                  settings.epochs) {}

GraphInput SampledBatches::make(int64_t epoch, int64_t step) {
  const auto [seeds, divided] = batches_.batch(epoch, step, exchange_.get());
  const Rng rng = stream_of(settings_, Stream::sampling, epoch * steps_per_epoch() + step);
  GraphInput input = sample_input(graph_, sampler_.sample(seeds, rng, Threads{1}));
  input.workspace = workspace_;
  if (divided) input.exchange = exchange_;
  return input;
}

}  // namespace graphpae
