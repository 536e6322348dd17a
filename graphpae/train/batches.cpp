#include "graphpae/train/batches.h"

#include <algorithm>

#include "graphpae/settings/streams.h"

namespace graphpae {

ShuffledBatches::ShuffledBatches(std::vector<int32_t> members, const Settings& settings)
    : members_(std::move(members)), settings_(settings) {
  const int64_t count = static_cast<int64_t>(members_.size());
  batch_size_ = settings.batch_size == 0 ? count : std::min(settings.batch_size, count);
}

int64_t ShuffledBatches::steps_per_epoch() const {
  return (static_cast<int64_t>(members_.size()) + batch_size_ - 1) / batch_size_;
}

ShuffledBatches::Batch ShuffledBatches::batch(int64_t epoch, int64_t step, const Exchange* exchange) {
  const int64_t all = static_cast<int64_t>(members_.size()), first = step * batch_size_;
  if (epoch != shuffled_epoch_) {
    order_ = stream_of(settings_, Stream::order, epoch).permutation(static_cast<int32_t>(all));
    for (int32_t& place : order_) place = members_[place];
    shuffled_epoch_ = epoch;
  }
  const Part part = part_of(std::min(batch_size_, all - first), exchange);
  return {std::span<const int32_t>(order_).subspan(static_cast<size_t>(first + part.first),
                                                   static_cast<size_t>(part.count)),
          part.divided};
}

SampledBatches::SampledBatches(const PreparedGraph& graph, const Settings& settings, std::shared_ptr<Exchange> exchange)
    : graph_(graph),
      settings_(settings),
      exchange_(std::move(exchange)),
      batches_(row_range(0, graph.graph->num_nodes()), settings),
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

MoleculeBatches::MoleculeBatches(std::shared_ptr<const MoleculeInputs> molecules, const Settings& settings,
                                 std::shared_ptr<Exchange> exchange)
    : molecules_(std::move(molecules)), exchange_(std::move(exchange)), batches_(molecules_->with_atoms(), settings) {}

const GraphInput& MoleculeBatches::input(int64_t epoch, int64_t step) {
  const auto [members, divided] = batches_.batch(epoch, step, exchange_.get());
  input_ = molecules_->batch(members);
  if (divided) input_.exchange = exchange_;
  return input_;
}

}  // namespace graphpae
