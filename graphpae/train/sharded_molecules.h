// ShardedMolecules: batches of molecules that stay on disk.
//
// Every epoch has its own random order of shards. The molecules of every few of them, a window, are mixed at random;
// the order of the epoch is one window after the other. The shards of one window are in memory, those of two while a
// batch meets both. The next batch is made by a thread of its own while the model learns from this one.
#pragma once

#include <map>
#include <memory>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/train/batches.h"

namespace graphpae {

struct ShardInput {
  std::shared_ptr<const ShardSet> shards;
  Threads threads;
  Kernels kernels = Kernels::fused;
};

// Throws a usage error that names the setting if positions are wanted that the shards do not hold, and for an encoder
// that is not for molecules.
void check_settings(const ShardSet& shards, const Settings& settings);

// Shards opened for training. Throws what check_settings throws.
ShardInput prepare(const ShardSet& shards, const Settings& settings, const InputOptions& options = {});

InputShape input_shape(const ShardSet& shards);

inline constexpr int64_t kShardsPerWindow = 4;

// In which order an epoch visits the molecules of shards: a pure function of the seed and the epoch. Any part of it can
// be asked for, and needs only the shards of the windows it meets.
class ShardOrder {
 public:
  // `sizes`: molecules of every shard.
  ShardOrder(std::vector<int64_t> sizes, const Settings& settings);

  int64_t size() const { return size_; }  // molecules of an epoch

  struct Part {
    std::vector<MoleculePlace> places;  // `set` is the number of the shard
    std::vector<int32_t> window;        // the shards of the last window that it meets
  };
  // Molecules first .. first + count of the epoch's order; count is at least 1.
  Part part(int64_t epoch, int64_t first, int64_t count);

 private:
  void begin(int64_t epoch);
  void mix(int64_t window);

  std::vector<int64_t> sizes_;
  Settings settings_;
  int64_t size_ = 0;

  // The epoch and the window at hand.
  int64_t epoch_ = -1, window_ = -1;
  std::vector<int32_t> shards_;       // in the order of the epoch
  std::vector<int64_t> starts_;       // [windows + 1] where each window starts in the order
  std::vector<MoleculePlace> mixed_;  // of the window
};

class ShardedMolecules final : public BatchSource {
 public:
  // settings.batch_size at a time, 0: all at once; the last batch is what is left.
  ShardedMolecules(const ShardInput& input, const Settings& settings, std::shared_ptr<Exchange> exchange = nullptr);

  int64_t steps_per_epoch() const override;
  // Throws a data error that names the file of a damaged shard.
  const GraphInput& input(int64_t epoch, int64_t step) override { return prefetcher_.input(epoch, step); }

 private:
  GraphInput make(int64_t epoch, int64_t step);
  const MoleculeInputs& open(int32_t shard);

  ShardInput source_;
  InputShape shape_;
  Settings settings_;
  std::shared_ptr<Exchange> exchange_;
  ShardOrder order_;
  int64_t batch_size_;
  std::map<int32_t, std::unique_ptr<MoleculeInputs>> open_;  // by shard
  std::shared_ptr<FusedWorkspace> workspace_ = std::make_shared<FusedWorkspace>();
  Prefetcher prefetcher_;  // last, so that it has ended before the others go
};

}  // namespace graphpae
