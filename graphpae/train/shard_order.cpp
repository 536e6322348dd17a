#include "graphpae/train/shard_order.h"

#include <algorithm>
#include <numeric>

#include "graphpae/settings/streams.h"

namespace graphpae {

ShardOrder::ShardOrder(std::vector<int64_t> sizes, const Settings& settings)
    : sizes_(std::move(sizes)), settings_(settings), size_(std::accumulate(sizes_.begin(), sizes_.end(), int64_t{0})) {}

void ShardOrder::begin(int64_t epoch) {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  window_ = -1;
  shards_ = stream_of(settings_, Stream::order, epoch).permutation(static_cast<int32_t>(sizes_.size()));
  starts_ = {0};
  for (size_t s = 0; s < shards_.size(); ++s) {
    if (s % kShardsPerWindow == 0) starts_.push_back(starts_.back());
    starts_.back() += sizes_[shards_[s]];
  }
}

void ShardOrder::mix(int64_t window) {
  if (window == window_) return;
  window_ = window;
  std::vector<MoleculePlace> all;
  const int64_t last = std::min<int64_t>((window + 1) * kShardsPerWindow, static_cast<int64_t>(shards_.size()));
  for (int64_t s = window * kShardsPerWindow; s < last; ++s) {
    for (int64_t m = 0; m < sizes_[shards_[s]]; ++m) all.push_back({shards_[s], static_cast<int32_t>(m)});
  }
  // The order of shards does not draw number 0 of the epoch's generator.
  const Rng rng(stream_of(settings_, Stream::order, epoch_).bits(0), static_cast<uint64_t>(window));
  mixed_.clear();
  for (const int32_t place : rng.permutation(static_cast<int32_t>(all.size()))) mixed_.push_back(all[place]);
}

ShardOrder::Part ShardOrder::part(int64_t epoch, int64_t first, int64_t count) {
  begin(epoch);
  Part part;
  part.places.reserve(count);
  int64_t window = std::upper_bound(starts_.begin(), starts_.end(), first) - starts_.begin() - 1;
  for (; count > 0; ++window) {
    mix(window);
    const int64_t from = first - starts_[window], taken = std::min(count, starts_[window + 1] - first);
    part.places.insert(part.places.end(), mixed_.begin() + from, mixed_.begin() + from + taken);
    first += taken;
    count -= taken;
  }
  const auto begin_shard = shards_.begin() + (window - 1) * kShardsPerWindow;
  part.window.assign(begin_shard, std::min(begin_shard + kShardsPerWindow, shards_.end()));
  return part;
}

}  // namespace graphpae
