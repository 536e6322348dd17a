#include "graphpae/cli/finetune_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/cli/score_table.h"
#include "graphpae/evaluate/statistics.h"

namespace graphpae::cli {
namespace {

std::string shown(const std::optional<double>& number, const char* format) {
  return number ? fmt::format(fmt::runtime(format), *number) : "-";
}

// Large numbers without an exponent, so that a line can be read beside a printed table.
std::string with_unit(const std::optional<double>& number, const std::string& unit) {
  const bool large = number.value_or(0) >= 1e4;
  return shown(number, large ? "{:.0f}" : "{:.4g}") + (number && !unit.empty() ? " [" + unit + "]" : "");
}

std::string target_table(const std::vector<run::TargetResult>& targets) {
  const bool classes = targets.front().classes;
  const bool paper =
      std::any_of(targets.begin(), targets.end(), [](const auto& target) { return !target.paper_unit.empty(); });
  std::string text = "on the test part\n";
  text += classes ? fmt::format("{:<16} {:>12}\n", "target", "ROC-AUC in %")
                  : fmt::format("{:<16} {:<22} {:<22} {:>8}{}", "target", "MAE", "RMSE", "MAE/std",
                                paper ? "   MAE, unit of the paper's table\n" : "\n");
  for (const run::TargetResult& target : targets) {
    text += fmt::format("{:<16} ", target.name);
    if (classes) {
      text += target.rocauc ? fmt::format("{:>12.2f}\n", 100 * *target.rocauc)
                            : fmt::format("{:>12}   (the test part does not have both classes)\n", "-");
      continue;
    }
    text += fmt::format("{:<22} {:<22} {:>8}", with_unit(target.mae, target.unit), with_unit(target.rmse, target.unit),
                        shown(target.mae_over_std, "{:.4f}"));
    if (!target.paper_unit.empty()) text += "   " + with_unit(target.mae_paper, target.paper_unit);
    text += "\n";
  }
  if (!classes) text += "std: of the training labels\n";
  return text;
}

}  // namespace

std::string finetune_text(const run::FinetuneResult& result) {
  const run::PartResult& first = result.parts.front();
  std::string text =
      fmt::format("{}: {} epochs, {:.1f} s ({:.3g} s per epoch), protocol {}", result.run, result.epochs(),
                  result.seconds(), result.seconds_per_epoch(), name_of(first.protocol));
  if (!result.has_parts())
    text += fmt::format(": epoch {}, {}", first.reported_epoch,
                        first.protocol == Protocol::strict ? "the best on the validation part" : "the last one");
  text += "\n";
  if (!first.targets.empty()) return text + "\n" + target_table(result.targets());
  if (!result.has_parts())
    return text + fmt::format("accuracy on the test part: {}\n", shown(first.test_mean, "{:.4f}"));
  const std::vector<double> scores = result.test_scores();
  if (scores.empty()) return text + "no test part has labelled nodes\n";
  return text + "\n" +
         score_table({fmt::format("accuracy, {} splits", scores.size())}, {{"test part", {statistics(scores)}}}, {});
}

}  // namespace graphpae::cli
