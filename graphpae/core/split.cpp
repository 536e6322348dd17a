#include "graphpae/core/split.h"

#include <fmt/format.h>

#include "graphpae/core/error.h"

namespace graphpae {

void check_splits(const std::vector<Split>& splits, int64_t count) {
  constexpr const char* kNames[] = {"train", "val", "test"};
  for (size_t s = 0; s < splits.size(); ++s) {
    const std::vector<int32_t>* parts[] = {&splits[s].train, &splits[s].val, &splits[s].test};
    std::vector<int8_t> part_of(count, -1);
    for (int8_t part = 0; part < 3; ++part) {
      for (const int32_t id : *parts[part]) {
        if (id < 0 || id >= count) {
          throw data_error(fmt::format("split {}: {} id {} is outside 0..{}", s, kNames[part], id, count - 1));
        }
        if (part_of[id] == part) throw data_error(fmt::format("split {}: id {} is twice in {}", s, id, kNames[part]));
        if (part_of[id] >= 0) {
          throw data_error(
              fmt::format("split {}: id {} is in both {} and {}", s, id, kNames[part_of[id]], kNames[part]));
        }
        part_of[id] = part;
      }
    }
  }
}

}  // namespace graphpae
