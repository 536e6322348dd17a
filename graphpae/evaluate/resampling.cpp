#include "graphpae/evaluate/resampling.h"

#include <algorithm>
#include <vector>

#include "graphpae/core/rng.h"

namespace graphpae {

std::optional<std::pair<double, double>> resampled_interval(
    int64_t rows, const std::function<std::optional<double>(std::span<const int32_t>)>& score) {
  constexpr int64_t kDraws = 1000;
  constexpr uint64_t kBootstrapStream = 0x626f6f74;  // "boot"
  const Rng rng(0, kBootstrapStream);
  std::vector<int32_t> drawn(static_cast<size_t>(rows));
  std::vector<double> scores;
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    for (int64_t i = 0; i < rows; ++i)
      drawn[i] = static_cast<int32_t>(rng.below(static_cast<uint64_t>(draw * rows + i), static_cast<uint64_t>(rows)));
    if (const auto value = score(drawn)) scores.push_back(*value);
  }
  if (static_cast<int64_t>(scores.size()) < kDraws / 2) return std::nullopt;
  std::sort(scores.begin(), scores.end());
  const auto at = [&](double share) {
    return scores[static_cast<size_t>(share * static_cast<double>(scores.size() - 1))];
  };
  return std::pair(at(0.025), at(0.975));
}

}  // namespace graphpae
