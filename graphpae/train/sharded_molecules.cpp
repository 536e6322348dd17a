#include "graphpae/train/sharded_molecules.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/ops/tensors.h"
#include "graphpae/settings/streams.h"

namespace graphpae {
namespace {

std::vector<int64_t> sizes_of(const ShardSet& shards) {
  std::vector<int64_t> sizes;
  for (const ShardEntry& shard : shards.manifest().shards) sizes.push_back(shard.molecules);
  return sizes;
}

}  // namespace

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

void check_settings(const ShardSet& shards, const Settings& settings) {
  check_encoder(settings, EncoderKind::gated_gcn);
  if (!settings.use_positions) return;
  const ShardManifest& manifest = shards.manifest();
  if (manifest.k == 0) throw usage_error("the shards hold no positions; use_positions=no trains without");
  const auto wanted = position_settings(settings);
  for (const auto& [key, value] : wanted) {
    const auto found = std::find_if(manifest.position_settings.begin(), manifest.position_settings.end(),
                                    [&](const auto& setting) { return setting.first == key; });
    const std::string made = found == manifest.position_settings.end() ? "none" : found->second;
    if (made != value) {
      throw usage_error(
          fmt::format("the positions of the shards were made with {}={}, the settings say {}", key, made, value));
    }
  }
}

ShardInput prepare(const ShardSet& shards, const Settings& settings, const InputOptions& options) {
  check_settings(shards, settings);
  use_threads_in_torch(options.threads);
  return {std::make_shared<const ShardSet>(shards), options.threads, options.kernels};
}

InputShape input_shape(const ShardSet& shards) { return input_shape(shards.manifest().featurizer); }

ShardedMolecules::ShardedMolecules(const ShardInput& input, const Settings& settings,
                                   std::shared_ptr<Exchange> exchange)
    : source_(input),
      shape_(input_shape(*input.shards)),
      settings_(settings),
      exchange_(std::move(exchange)),
      order_(sizes_of(*input.shards), settings),
      batch_size_(settings.batch_size == 0 ? order_.size() : std::min(settings.batch_size, order_.size())),
      prefetcher_([this](int64_t epoch, int64_t step) { return make(epoch, step); }, steps_per_epoch(),
                  settings.epochs) {}

int64_t ShardedMolecules::steps_per_epoch() const { return (order_.size() + batch_size_ - 1) / batch_size_; }

const MoleculeInputs& ShardedMolecules::open(int32_t shard) {
  std::unique_ptr<MoleculeInputs>& entry = open_[shard];
  if (!entry) {
    ShardContent content = source_.shards->read(shard);
    if (!settings_.use_positions) content.positions.clear();
    const std::string path =
        source_.shards->directory() + "/" + source_.shards->manifest().shards[static_cast<size_t>(shard)].file;
    entry = naming(path, [&] {
      return std::make_unique<MoleculeInputs>(content.molecules, shape_, std::move(content.positions), Threads{1},
                                              source_.kernels);
    });
  }
  return *entry;
}

GraphInput ShardedMolecules::make(int64_t epoch, int64_t step) {
  const int64_t first = step * batch_size_;
  const Part mine = part_of(std::min(batch_size_, order_.size() - first), exchange_.get());
  ShardOrder::Part part = order_.part(epoch, first + mine.first, mine.count);
  std::map<int32_t, int32_t> number;  // of a shard among those of the batch
  std::vector<const MoleculeInputs*> sets;
  for (MoleculePlace& place : part.places) {
    const auto [entry, is_new] = number.try_emplace(place.set, static_cast<int32_t>(sets.size()));
    if (is_new) sets.push_back(&open(place.set));
    place.set = entry->second;
  }
  GraphInput input = MoleculeInputs::batch(sets, part.places);
  input.threads = source_.threads;
  input.workspace = workspace_;
  if (mine.divided) input.exchange = exchange_;
  std::erase_if(open_, [&](const auto& entry) {
    return std::find(part.window.begin(), part.window.end(), entry.first) == part.window.end();
  });
  return input;
}

}  // namespace graphpae
