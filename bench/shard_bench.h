// Training from shards against training from memory, and the time it takes to make a batch.
#pragma once

#include <cstdint>
#include <string>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/settings/settings.h"

namespace graphpae::bench {

struct ShardBench {
  int64_t molecules = 0, shards = 0, batch = 0;
  double shards_ms = 0, memory_ms = 0;    // medians of a training step
  double prepare_ms = 0, longest_ms = 0;  // a batch made from shards by one thread: mean, and the one that reads most
};

// `steps` of each in turn, after one to warm up. What is in memory are the molecules of the first shard.
ShardBench run_shard_bench(const ShardSet& shards, const Settings& settings, int steps, Threads threads);

// Shards of drugs, for when there are no real ones.
ShardSet bench_shards(const std::string& directory, const Settings& settings, Threads threads);

}  // namespace graphpae::bench
