#include "graphpae/run/few_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"

namespace graphpae::run {
namespace {

constexpr int64_t kDrawsInAll = 10;
constexpr uint64_t kDrawStream = 0x666577;  // "few"

}  // namespace

std::vector<int64_t> parse_label_counts(const std::string& text) {
  std::vector<int64_t> counts;
  bool all = false;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, comma - begin);
    begin = comma + 1;
    int64_t count = 0;
    if (part == "all") {
      all = true;
      continue;
    }
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), count);
    if (error != std::errc() || end != part.data() + part.size() || count < 1)
      throw usage_error(
          fmt::format("--labels-per-class {}: expected whole numbers from 1 and all, such as 1,5,20,all", text));
    counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  if (all) counts.push_back(0);
  return counts;
}

Split few_of(const Split& split, std::span<const int32_t> labels, int64_t classes, int64_t per_class, uint64_t draw) {
  if (per_class == 0) return split;
  Split few{{}, split.val, split.test};
  std::vector<int64_t> taken(static_cast<size_t>(classes), 0);
  for (const int32_t place : Rng(draw, kDrawStream).permutation(static_cast<int32_t>(split.train.size()))) {
    const int32_t node = split.train[place];
    if (taken[labels[node]]++ < per_class) few.train.push_back(node);
  }
  std::sort(few.train.begin(), few.train.end());
  return few;
}

FewLabels draw_curves(const std::vector<CurveRow>& rows, const std::vector<int64_t>& per_class,
                      std::span<const int32_t> labels, int64_t classes, const std::vector<Split>& splits,
                      const TunedOptions& options, const Watch& watch) {
  FewLabels curves;
  curves.per_class = per_class;
  for (const CurveRow& row : rows) curves.rows.push_back({row.key, row.title, {}});
  const auto count = static_cast<int64_t>(splits.size());
  const auto steps = static_cast<int64_t>(per_class.size() * rows.size());
  int64_t step = 0;
  for (const int64_t labelled : per_class) {
    const int64_t draws = labelled == 0 ? 1 : (kDrawsInAll + count - 1) / count;
    curves.draws.push_back(draws);
    std::vector<Split> drawn;
    for (int64_t s = 0; s < count; ++s) {
      for (int64_t draw = 0; draw < draws; ++draw)
        drawn.push_back(few_of(splits[s], labels, classes, labelled, static_cast<uint64_t>(s * kDrawsInAll + draw)));
    }
    for (size_t r = 0; r < rows.size(); ++r) {
      const std::string what =
          fmt::format("{}, {} labels per class", rows[r].title, labelled == 0 ? "all" : std::to_string(labelled));
      watch.report({"%", 100 * step++ / std::max<int64_t>(steps, 1), 100, 0, what});
      ProtocolScores all;
      for (size_t run = 0; run < rows[r].rows.size(); ++run) {
        ProtocolScores scores =
            evaluate_tuned(std::span(&rows[r].rows[run], 1), labels, classes, drawn, options).scores;
        // Draws of a split are its seeds.
        scores.splits = count;
        scores.seeds = draws;
        scores.overlap = count > 1 ? overlap_of(splits) : 0;
        if (run == 0)
          all = std::move(scores);
        else
          all.append(scores);
      }
      curves.rows[r].scores.push_back(std::move(all));
    }
  }
  return curves;
}

}  // namespace graphpae::run
