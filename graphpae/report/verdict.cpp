#include <fmt/format.h>

#include <cmath>
#include <string>

#include "graphpae/io/text.h"
#include "graphpae/report/result_numbers.h"
#include "graphpae/report/run_report.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

// A metric inside a sentence: "accuracy 67.57 %", "RMSE 0.810".
struct Wording {
  results::Format format;
  std::string name;
  bool percent;

  explicit Wording(const std::string& metric) : format(results::format_of(metric)) {
    const size_t in_percent = format.title.find(" in %");
    percent = in_percent != std::string::npos;
    name = format.title.substr(0, in_percent);
  }
  std::string number(double value) const { return fmt::format("{:.{}f}", format.factor * value, format.decimals); }
  std::string score(double mean) const { return number(mean) + (percent ? " %" : ""); }
  std::string difference(double value) const { return number(std::abs(value)) + (percent ? " points" : ""); }
  std::string bound(double value) const { return signed_text(format.factor * value, format.decimals); }
};

bool is_interval(const Json& bounds) {
  return bounds.is_array() && bounds.size() == 2 && bounds[0].is_number() && bounds[1].is_number();
}

// The best of what needs no training; the constant guess only if there is nothing else.
struct Rival {
  std::string title;
  const Json* row = nullptr;
};

Rival best_rival(const Json& evaluation, const Wording& wording, const std::string& metric) {
  Rival best;
  for (const bool constant : {false, true}) {
    for (const char* kind : {"baselines", "blocks"}) {
      const Json& rows = results::at(evaluation, kind);
      if (!rows.is_object()) continue;
      for (const auto& [key, row] : rows.items()) {
        if (constant != (key == "majority") || !results::at(row, "mean").is_number()) continue;
        const double mean = row["mean"];
        const double known = best.row == nullptr ? 0 : (*best.row)["mean"].get<double>();
        if (best.row == nullptr || (wording.format.smaller_is_better ? mean < known : mean > known))
          best = {results::row_title(row, key, metric), &row};
      }
    }
    if (best.row != nullptr) return best;
  }
  return best;
}

// What the first of two sorted apart from the second: the difference of all scores, and whether chance explains it.
Verdict compared(const Json& evaluation, const Wording& wording, const Rival& rival) {
  const double own = evaluation["mean"], other = (*rival.row)["mean"];
  const Json& stored = results::at(*rival.row, "difference");
  const double difference = results::at(stored, "mean").is_number() ? stored["mean"].get<double>() : own - other;
  const double gain = wording.format.smaller_is_better ? -difference : difference;
  const std::string title = fmt::format("{} ({})", rival.title, wording.score(other));
  Verdict verdict;
  verdict.text = fmt::format("Embeddings: {} {}, ", wording.name, wording.score(own));
  const Json& bounds = results::at(stored, "ci95");
  if (!is_interval(bounds)) {
    const char* relation = gain > 0 ? "above" : gain < 0 ? "below" : "from";
    verdict.text +=
        fmt::format("{} {} {}, the best of what needs no training; {}", wording.difference(difference), relation, title,
                    results::at(evaluation, "ci95").is_null() ? "one score cannot tell whether that is chance."
                                                              : "whether that is chance was not measured.");
    return verdict;
  }
  const double low = bounds[0], high = bounds[1];
  const std::string interval =
      fmt::format("95 % interval of the difference {} to {}", wording.bound(low), wording.bound(high));
  if (low > 0 || high < 0) {
    verdict.standing = gain > 0 ? 1 : -1;
    verdict.text += gain > 0 ? fmt::format("{} better than the best of what needs no training, {}; {}.",
                                           wording.difference(difference), title, interval)
                             : fmt::format("{} worse than {}, which needs no training; {}.",
                                           wording.difference(difference), title, interval);
  } else {
    verdict.text += fmt::format("no better and no worse than the best of what needs no training, {}: the {} holds 0.",
                                title, interval);
  }
  return verdict;
}

Verdict of_evaluation(const Json& evaluation) {
  const std::string metric = results::text_at(evaluation, "metric");
  const Wording wording(metric);
  const Rival rival = best_rival(evaluation, wording, metric);
  Verdict verdict;
  if (rival.row == nullptr)
    verdict.text = fmt::format("Embeddings: {} {}; they were compared with nothing.", wording.name,
                               wording.score(evaluation["mean"]));
  else
    verdict = compared(evaluation, wording, rival);
  if (const Json& adds = results::at(evaluation, "adds"); results::at(adds, "mean").is_number())
    verdict.text +=
        fmt::format(" Beside {} they add {}{}.", results::text_at(evaluation, "best_block"),
                    wording.bound(adds["mean"]) + (wording.percent ? " points" : ""),
                    is_interval(results::at(adds, "ci95"))
                        ? fmt::format(" ({} to {})", wording.bound(adds["ci95"][0]), wording.bound(adds["ci95"][1]))
                        : "");
  if (evaluation.contains("inflated")) {
    verdict.text += " The paper's protocol, which inflates all of these.";
    verdict.standing = 0;
  }
  return verdict;
}

Verdict of_finetuning(const Json& json) {
  const Wording wording(results::text_at(json, "metric"));
  const Json& mean = results::at(json, "mean").is_number() ? json["mean"] : results::at(json, "test_mean");
  if (!mean.is_number()) return {};
  std::string text = fmt::format("The fine-tuned model on the test part: {} {}", wording.name, wording.score(mean));
  if (const Json& bounds = results::at(json, "ci95"); is_interval(bounds))
    text += fmt::format(" (95 % interval {} to {}, {} splits)", wording.number(bounds[0]), wording.number(bounds[1]),
                        results::at(json, "per_split").size());
  const std::string protocol = results::text_at(json, "protocol");
  if (protocol == "strict") text += " (it chose nothing)";
  if (protocol == "paper") text += ", after the last epoch, as in the paper";
  return {text + ".", 0};
}

}  // namespace

Verdict verdict(const Json& results) {
  const Json& evaluation = results::at(results, "evaluation");
  if (results::at(evaluation, "mean").is_number()) return of_evaluation(evaluation);
  if (results::at(results, "test_mean").is_number()) return of_finetuning(results);
  return {};
}

}  // namespace graphpae
