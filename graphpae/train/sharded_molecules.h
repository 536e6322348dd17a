// ShardedMolecules: batches of molecules that stay on disk.
//
// The shards of one window (shard_order.h) are in memory, those of two while a batch meets both. The next batch is made
// by a thread of its own while the model learns from this one.
#pragma once

#include <map>
#include <memory>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/model/inputs.h"
#include "graphpae/model/prefetcher.h"
#include "graphpae/train/batches.h"
#include "graphpae/train/shard_order.h"

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
