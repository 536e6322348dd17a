// Molecules to shards (data/molecule_shards.h): read, solved for positions and written a shard at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/data/molecule_stream.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae {

struct ConvertOptions {
  std::string output;  // directory
  bool force = false;  // it may exist
  int64_t shard_size = kMoleculesPerShard;
  Featurizer featurizer = Featurizer::ogb;   // of the codes
  std::optional<PositionOptions> positions;  // nothing: shards without positions
  // The settings that say the same, by key, as text; kept for those who train on the shards.
  std::vector<std::pair<std::string, std::string>> position_settings;
  Threads threads = all_threads();
  std::function<void(int64_t done, int64_t total)> progress;  // in rows; may be empty
};

struct ConvertedShards {
  ShardManifest manifest;
  int64_t invalid = 0;  // rows that are not molecules, left out
  int64_t bytes = 0;    // of all files
};

// The rows of a file of texts (smiles_file_of()). Rows that are left out are named in `notes`. Throws what
// stream_molecules and ShardWriter throw, and a numerical error if positions do not converge.
ConvertedShards convert_to_shards(const std::string& smiles_file, const LoadOptions& reading,
                                  const ConvertOptions& options, std::vector<std::string>& notes);
// Molecules in memory.
ConvertedShards convert_to_shards(const GraphSet& set, const ConvertOptions& options);

}  // namespace graphpae
