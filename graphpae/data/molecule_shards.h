// Shards: molecules with their positions in binary files of some thousand each, for pre-training on more of them than
// memory holds.
//
//   DIR/shards.json      what the shards hold, how their positions were made, size and SHA-256 of each
//   DIR/shard-00000.bin  a header of 64 bytes, then arrays that start at multiples of 64, all little-endian:
//                          node offsets int64 [G+1], bond offsets int64 [G+1], bonds int32 [B,2] (local to their
//                          molecule), atom codes int16 [N,.], bond codes int16 [B,.], positions float64 [N,K]
//
// The header is the text "gpaeshrd", the version as int64 and G, N, B, K, columns of atom codes, columns of bond codes
// as int64.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/graph_set.h"
#include "graphpae/data/chemistry.h"
#include "graphpae/io/atomic_file.h"

namespace graphpae {

inline constexpr int64_t kMoleculesPerShard = 16384;

struct ShardEntry {
  std::string file;  // name in the directory
  int64_t molecules = 0, atoms = 0, bonds = 0;
  std::string sha256;
};

struct ShardManifest {
  Featurizer featurizer = Featurizer::transfer;
  int64_t k = 0;  // columns of positions; 0: none
  // The settings that positions were made with, by key, as text.
  std::vector<std::pair<std::string, std::string>> position_settings;
  int64_t largest = 0;  // atoms of the largest molecule
  std::vector<ShardEntry> shards;
  std::string content_sha256;  // of all of the above, the names of files left out

  int64_t molecules() const;
  int64_t atoms() const;
  int64_t bonds() const;
};

// Whether the directory has a shards.json.
bool is_shard_directory(const std::string& directory);

// Writes a directory of shards: completely or not at all. A directory that exists needs `force`.
class ShardWriter {
 public:
  // Of `form` only featurizer, k and position_settings count.
  ShardWriter(const std::string& directory, bool force, ShardManifest form);

  // One shard. Every molecule must have atoms; positions [N,K] of all of them, row-major.
  void add(const GraphSetParts& molecules, std::span<const double> positions);

  // The directory is there when this returns. Throws a data error if there are no shards.
  ShardManifest finish();

 private:
  std::string directory_;
  ShardManifest manifest_;
  AtomicDirectory target_;
};

struct ShardContent {
  GraphSet molecules;             // structure and codes alone
  std::vector<double> positions;  // [N,K]
};

class ShardSet {
 public:
  // Reads the manifest. Throws a data error that names it if it is damaged, or of another version.
  explicit ShardSet(std::string directory);

  const std::string& directory() const { return directory_; }
  const ShardManifest& manifest() const { return manifest_; }
  int64_t num_shards() const { return static_cast<int64_t>(manifest_.shards.size()); }

  // The checksum is verified when a shard is read for the first time. Throws a data error that names the file. One
  // thread at a time.
  ShardContent read(int64_t shard) const;

 private:
  std::string directory_;
  ShardManifest manifest_;
  mutable std::vector<bool> verified_;
};

// What the runs of training take for the identity of their data.
inline const std::string& content_hash(const ShardSet& shards) { return shards.manifest().content_sha256; }

const char* name_of(Featurizer featurizer);

}  // namespace graphpae
