// The bootstrap: how a score of test rows spreads when rows are drawn again, with repeats, from those there are. It
// says how much hangs on which rows were tested, not on which the probe learnt from: for data with a single split.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace graphpae {

// `score` of the rows `drawn` (of 0 .. rows-1, as many, with repeats), or nothing if they cannot be scored. The 2.5th
// and 97.5th percentile over 1000 draws; nothing if fewer than half of them can be scored.
std::optional<std::pair<double, double>> resampled_interval(
    int64_t rows, const std::function<std::optional<double>(std::span<const int32_t> drawn)>& score);

}  // namespace graphpae
