#include "graphpae/evaluate/protocol_scores.h"

#include <fmt/format.h>

#include <numeric>

#include "graphpae/core/error.h"

namespace graphpae {

void ProtocolScores::append(const ProtocolScores& other) {
  const auto join = [&](auto& mine, const auto& others) {
    if (mine.empty()) return;
    std::remove_reference_t<decltype(mine)> joined;
    for (int64_t split = 0; split < splits; ++split) {
      joined.insert(joined.end(), mine.begin() + split * seeds, mine.begin() + (split + 1) * seeds);
      joined.insert(joined.end(), others.begin() + split * other.seeds, others.begin() + (split + 1) * other.seeds);
    }
    mine = std::move(joined);
  };
  join(test, other.test);
  join(chosen, other.chosen);
  join(validation, other.validation);
  for (size_t t = 0; t < tasks.size(); ++t) {
    join(tasks[t].test, other.tasks[t].test);
    join(tasks[t].validation, other.tasks[t].validation);
    join(tasks[t].penalties, other.tasks[t].penalties);
  }
  for (size_t s = 0; s < notes.size(); ++s)
    notes[s].insert(notes[s].end(), other.notes[s].begin(), other.notes[s].end());
  seeds += other.seeds;
  if (confusion) *confusion += *other.confusion;
  unconverged += other.unconverged;
}

Statistics ProtocolScores::summary() const {
  Statistics all = statistics(test);
  if (splits > 1) {
    const Statistics over_splits = overlapping_statistics(per_split(), overlap);
    all.low = over_splits.low;
    all.high = over_splits.high;
  } else if (test.size() == 1 && resampled) {
    all.low = resampled->first;
    all.high = resampled->second;
  }
  return all;
}

std::vector<double> ProtocolScores::per_split() const {
  std::vector<double> means;
  for (auto own = test.begin(); own != test.end(); own += seeds)
    means.push_back(std::accumulate(own, own + seeds, 0.0) / static_cast<double>(seeds));
  return means;
}

std::optional<double> mean_of(const std::vector<std::optional<double>>& values) {
  std::vector<double> present;
  for (const std::optional<double>& value : values) {
    if (value) present.push_back(*value);
  }
  return present.empty() ? std::nullopt : std::optional(statistics(present).mean);
}

PairedDifference compare(const ProtocolScores& first, const ProtocolScores& second, bool errors) {
  const std::vector<double> a = first.splits > 1 ? first.per_split() : first.test;
  const std::vector<double> b = second.splits > 1 ? second.per_split() : second.test;
  if (first.splits != second.splits || a.size() != b.size())
    throw data_error(fmt::format("{} x {} scores cannot be compared with {} x {}", first.splits, first.seeds,
                                 second.splits, second.seeds));
  std::vector<double> differences;
  PairedDifference result;
  for (size_t i = 0; i < a.size(); ++i) {
    differences.push_back(a[i] - b[i]);
    result.better += errors ? a[i] < b[i] : a[i] > b[i];
  }
  result.pairs = static_cast<int64_t>(differences.size());
  result.difference = overlapping_statistics(differences, first.splits > 1 ? first.overlap : 0);
  return result;
}

}  // namespace graphpae
