// ShardOrder: in which order an epoch visits the molecules of shards.
//
// Every epoch has its own random order of shards. The molecules of every few of them, a window, are mixed at random;
// the order of the epoch is one window after the other. It is a pure function of the seed and the epoch, any part of it
// can be asked for, and a part needs only the shards of the windows it meets.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/model/molecule_batch.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

inline constexpr int64_t kShardsPerWindow = 4;

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

}  // namespace graphpae
