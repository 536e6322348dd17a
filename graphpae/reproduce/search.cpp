#include <algorithm>

#include "graphpae/core/rng.h"
#include "graphpae/reproduce/tune.h"

namespace graphpae {
namespace {

constexpr int64_t kFactor = 3, kFewest = 3, kMost = 300;

// Numbers people would choose: a search that ends at 0.0103724 claims more than it knows.
const std::vector<std::string> kMaskRatios = {"0.1", "0.2", "0.25", "0.3", "0.4", "0.5",
                                              "0.6", "0.7", "0.75", "0.8", "0.9"};
const std::vector<std::string> kAlphas = {"0.0001", "0.0002", "0.0005", "0.001", "0.002", "0.005", "0.01",
                                          "0.02",   "0.05",   "0.1",    "0.2",   "0.5",   "1"};
const std::vector<std::string> kGammas = {"1", "1.5", "2", "3"};
const std::vector<std::string> kGraphEigenvectors = {"5", "10", "20", "30", "50", "100", "200"};
const std::vector<std::string> kMoleculeEigenvectors = {"4", "6", "8", "15", "20", "30"};
const std::vector<std::string> kDropouts = {"0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8"};
const std::vector<std::string> kRates = {"0.0001", "0.0002", "0.0005", "0.001", "0.002", "0.005"};

}  // namespace

SettingList draw_candidate(uint64_t seed, int64_t number, bool molecules) {
  if (number == 0) return {};
  const Rng rng(seed, static_cast<uint64_t>(number));
  uint64_t index = 0;
  const auto draw = [&](const std::vector<std::string>& values) { return values[rng.below(index++, values.size())]; };
  return {
      {"mask_ratio", draw(kMaskRatios)}, {"alpha", draw(kAlphas)},
      {"gamma", draw(kGammas)},          {"eigenvectors", draw(molecules ? kMoleculeEigenvectors : kGraphEigenvectors)},
      {"dropout", draw(kDropouts)},      {"lr", draw(kRates)}};
}

std::vector<Rung> halving_rungs(int64_t candidates, int64_t epochs) {
  std::vector<Rung> rungs;
  for (int64_t shrink = kFactor * kFactor; shrink >= 1; shrink /= kFactor) {  // three rounds
    const Rung rung{candidates, std::max<int64_t>(1, epochs / shrink)};
    if (!rungs.empty() && rungs.back().epochs == rung.epochs)
      rungs.back().candidates = std::max(rungs.back().candidates, rung.candidates);
    else
      rungs.push_back(rung);
    candidates = (candidates + kFactor - 1) / kFactor;
  }
  return rungs;
}

double search_seconds(const std::vector<Rung>& rungs, const JobCost& cost) {
  double sum = 0;
  for (const Rung& rung : rungs) sum += static_cast<double>(rung.candidates) * cost.of(rung.epochs);
  return sum;
}

int64_t plan_candidates(const JobCost& cost, int64_t epochs, double seconds) {
  int64_t candidates = kFewest;
  while (candidates < kMost && search_seconds(halving_rungs(candidates + 1, epochs), cost) <= seconds) ++candidates;
  return candidates;
}

std::vector<int64_t> best_candidates(const std::vector<TuneCandidate>& candidates, int64_t keep, bool smaller) {
  std::vector<std::pair<double, int64_t>> order;
  for (const auto& [number, set, score] : candidates) {
    if (score) order.emplace_back(smaller ? *score : -*score, number);
  }
  std::sort(order.begin(), order.end());  // of equal ones the earlier, which the recipe itself is
  std::vector<int64_t> best;
  for (const auto& [score, number] : order) {
    if (static_cast<int64_t>(best.size()) < keep) best.push_back(number);
  }
  return best;
}

}  // namespace graphpae
