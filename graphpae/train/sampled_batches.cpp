#include "graphpae/train/sampled_batches.h"

#include <algorithm>

#include "graphpae/settings/streams.h"

namespace graphpae {

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
