#include "graphpae/train/sharded_molecules.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/ops/tensors.h"

namespace graphpae {
namespace {

std::vector<int64_t> sizes_of(const ShardSet& shards) {
  std::vector<int64_t> sizes;
  for (const ShardEntry& shard : shards.manifest().shards) sizes.push_back(shard.molecules);
  return sizes;
}

}  // namespace

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
