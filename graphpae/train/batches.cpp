#include "graphpae/train/batches.h"

#include <algorithm>

#include "graphpae/settings/streams.h"

namespace graphpae {

MoleculeBatches::MoleculeBatches(std::shared_ptr<const MoleculeInputs> molecules, const Settings& settings,
                                 std::shared_ptr<Exchange> exchange)
    : molecules_(std::move(molecules)), settings_(settings), exchange_(std::move(exchange)) {
  const int64_t count = static_cast<int64_t>(molecules_->with_atoms().size());
  batch_size_ = settings.batch_size == 0 ? count : std::min(settings.batch_size, count);
}

int64_t MoleculeBatches::steps_per_epoch() const {
  return (static_cast<int64_t>(molecules_->with_atoms().size()) + batch_size_ - 1) / batch_size_;
}

void MoleculeBatches::shuffle(int64_t epoch) {
  if (epoch == shuffled_epoch_) return;
  order_ =
      stream_of(settings_, Stream::order, epoch).permutation(static_cast<int32_t>(molecules_->with_atoms().size()));
  for (int32_t& place : order_) place = molecules_->with_atoms()[place];
  shuffled_epoch_ = epoch;
}

const GraphInput& MoleculeBatches::input(int64_t epoch, int64_t step) {
  shuffle(epoch);
  const int64_t first = step * batch_size_, count = std::min(batch_size_, static_cast<int64_t>(order_.size()) - first);
  const Part part = part_of(count, exchange_.get());
  input_ = molecules_->batch(std::span<const int32_t>(order_).subspan(first + part.first, part.count));
  if (part.divided) input_.exchange = exchange_;
  return input_;
}

}  // namespace graphpae
