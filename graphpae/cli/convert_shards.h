// `graphpae convert --to shards`.
#pragma once

#include "graphpae/cli/model_flags.h"
#include "graphpae/data/molecule_shards.h"

namespace graphpae::cli {

struct ShardFlags {
  DataFlags data;
  ModelFlags model;
  std::string output;
  int64_t shard_size = kMoleculesPerShard;
  bool force = false;
};

// Reads, solves and writes a shard at a time.
void convert_to_shards(ShardFlags flags, const Common& common);

}  // namespace graphpae::cli
