#include <fmt/format.h>

#include <algorithm>

#include "graphpae/io/text.h"
#include "graphpae/reproduce/tune.h"

namespace graphpae {

std::string score_text(const std::optional<double>& score, const std::string& metric) {
  return score ? fmt::format("{:.{}f}", shown_factor(metric) * *score, shown_decimals(metric)) : "none";
}

std::string rounds_text(const std::vector<TuneRound>& rounds, const std::string& metric) {
  constexpr size_t kShown = 5;
  std::string text;
  for (const auto& [epochs, candidates] : rounds) {
    std::vector<TuneCandidate> order = candidates;
    std::stable_sort(order.begin(), order.end(), [&](const TuneCandidate& a, const TuneCandidate& b) {
      if (!a.validation || !b.validation) return a.validation.has_value();
      return smaller_is_better(metric) ? *a.validation < *b.validation : *a.validation > *b.validation;
    });
    const auto without =
        std::count_if(order.begin(), order.end(), [](const TuneCandidate& c) { return !c.validation; });
    text += fmt::format("{} candidate{}, {} epoch{} each{}; validation {}:\n", order.size(),
                        order.size() == 1 ? "" : "s", epochs, epochs == 1 ? "" : "s",
                        without > 0 ? fmt::format(", {} of them failed or left out", without) : "", metric);
    for (size_t k = 0; k < order.size(); ++k) {
      const auto& [number, set, validation] = order[k];
      if (k < kShown) {
        std::string settings;
        for (const auto& [key, value] : set) settings += fmt::format(" {}={}", key, value);
        text += fmt::format("  {:>8}  candidate {:<3}{}\n", score_text(validation, metric), number,
                            settings.empty() ? " the recipe" : settings);
      } else if (number == 0) {
        text += fmt::format("  {:>8}  candidate 0   the recipe, at place {}\n", score_text(validation, metric), k + 1);
      }
    }
  }
  return text;
}

std::string verdict_of(const Summary& summary) {
  if (summary.experiment.variants.size() < 2) return "the recipe itself won the search";
  for (const VariantComparison& c : summary.lines.back().comparisons) {
    if (c.protocol != "strict") continue;
    const std::string& metric = summary.lines.back().metric;
    const bool better = (c.difference.mean < 0) == smaller_is_better(metric) && c.difference.mean != 0;
    const std::string p = c.t_test ? fmt::format(", t-test p {:.2g}", *c.t_test) : "";
    const std::string difference = signed_text(shown_factor(metric) * c.difference.mean, shown_decimals(metric));
    return fmt::format("strict test {}: {} against the recipe, better on {} of {} {}{}: {}", metric, difference,
                       c.better, c.pairs, c.unit, p,
                       !better                        ? "not better"
                       : c.t_test && *c.t_test < 0.05 ? "better"
                                                      : "better, but not beyond chance");
  }
  return "not tested";
}

}  // namespace graphpae
