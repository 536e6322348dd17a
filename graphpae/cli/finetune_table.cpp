#include "graphpae/cli/finetune_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/cli/score_table.h"
#include "graphpae/evaluate/statistics.h"

namespace graphpae::cli {
namespace {

std::vector<double> numbers(const std::vector<Json>& results, const char* key) {
  std::vector<double> values;
  for (const Json& result : results) {
    if (result[key].is_number()) values.push_back(result[key].get<double>());
  }
  return values;
}

Json mean_json(const std::vector<double>& values) { return values.empty() ? Json() : Json(statistics(values).mean); }

std::string shown(const Json& number, const char* format) {
  return number.is_number() ? fmt::format(fmt::runtime(format), number.get<double>()) : "-";
}

// Large numbers without an exponent, so that a line can be read beside a printed table.
std::string with_unit(const Json& number, const std::string& unit) {
  const bool large = number.is_number() && number.get<double>() >= 1e4;
  return shown(number, large ? "{:.0f}" : "{:.4g}") + (number.is_number() && !unit.empty() ? " [" + unit + "]" : "");
}

std::string target_table(const Json& tasks) {
  const bool classes = tasks.front().contains("rocauc");
  const bool paper =
      std::any_of(tasks.begin(), tasks.end(), [](const Json& task) { return task.contains("paper_unit"); });
  std::string text = "on the test part\n";
  text += classes ? fmt::format("{:<16} {:>12}\n", "target", "ROC-AUC in %")
                  : fmt::format("{:<16} {:<22} {:<22} {:>8}{}", "target", "MAE", "RMSE", "MAE/std",
                                paper ? "   MAE, unit of the paper's table\n" : "\n");
  for (const Json& task : tasks) {
    text += fmt::format("{:<16} ", task["name"].get<std::string>());
    if (classes) {
      const bool scored = task["rocauc"].is_number();
      text += scored ? fmt::format("{:>12.2f}\n", 100 * task["rocauc"].get<double>())
                     : fmt::format("{:>12}   (the test part does not have both classes)\n", "-");
      continue;
    }
    const std::string unit = task.value("unit", std::string());
    text += fmt::format("{:<22} {:<22} {:>8}", with_unit(task["mae"], unit), with_unit(task["rmse"], unit),
                        shown(task["mae_over_std"], "{:.4f}"));
    if (task.contains("paper_unit"))
      text += "   " + with_unit(task["mae_paper"], task["paper_unit"].get<std::string>());
    text += "\n";
  }
  if (!classes) text += "std: of the training labels\n";
  return text;
}

}  // namespace

Json joined_results(const std::vector<FinetunePart>& parts, const std::vector<Json>& results) {
  if (parts.size() == 1 && parts.front().directory.empty()) return results.front();
  const bool splits = parts.front().directory.starts_with("splits/");
  int64_t epochs = 0;
  double seconds = 0;
  Json directories = Json::array();
  for (size_t p = 0; p < parts.size(); ++p) {
    epochs = std::max(epochs, results[p]["epochs"].get<int64_t>());
    seconds += results[p]["seconds"].get<double>();
    directories.push_back(parts[p].directory);
  }
  std::vector<double> times = numbers(results, "seconds_per_epoch");
  std::sort(times.begin(), times.end());
  Json joined = {{"epochs", epochs},
                 {"final_loss", mean_json(numbers(results, "final_loss"))},
                 {"seconds", seconds},
                 {"seconds_per_epoch", times[times.size() / 2]},
                 {"peak_rss_bytes", results.back()["peak_rss_bytes"]},
                 {"protocol", results.front()["protocol"]},
                 {"metric", results.front()["metric"]}};
  Json best = splits ? Json::array() : Json::object(), reported = best;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (splits) {
      best.push_back(results[p]["best_epoch"]);
      reported.push_back(results[p]["reported_epoch"]);
    } else {
      best[parts[p].name] = results[p]["best_epoch"];
      reported[parts[p].name] = results[p]["reported_epoch"];
    }
  }
  joined["best_epoch"] = best;
  joined["reported_epoch"] = reported;
  joined["validation"] = mean_json(numbers(results, "validation"));
  const std::vector<double> scores = numbers(results, "test_mean");
  joined["test_mean"] = mean_json(scores);
  if (splits) {
    joined["test"] = {{"accuracy", mean_json(scores)}};
    joined["splits"] = parts.size();
    joined["per_split"] = scores;
    if (!scores.empty()) joined.update(statistics_json(statistics(scores)));
  } else {
    joined["test"] = Json::object();
    joined["tasks"] = Json::array();
    for (const Json& result : results) {
      joined["test"].update(result["test"]);
      for (const Json& task : result["tasks"]) joined["tasks"].push_back(task);
    }
  }
  joined["pretrained"] = results.front()["pretrained"];
  joined["parts"] = directories;
  return joined;
}

std::string finetune_text(const Json& results) {
  const std::string protocol = results["protocol"].get<std::string>();
  std::string text =
      fmt::format("{}: {} epochs, {:.1f} s ({:.3g} s per epoch), protocol {}", results["run"].get<std::string>(),
                  results["epochs"].get<int64_t>(), results["seconds"].get<double>(),
                  results["seconds_per_epoch"].get<double>(), protocol);
  if (results["reported_epoch"].is_number())
    text += fmt::format(": epoch {}, {}", results["reported_epoch"].get<int64_t>(),
                        protocol == "strict" ? "the best on the validation part" : "the last one");
  text += "\n";
  if (results.contains("tasks")) return text + "\n" + target_table(results["tasks"]);
  if (!results.contains("per_split"))
    return text + fmt::format("accuracy on the test part: {}\n", shown(results["test_mean"], "{:.4f}"));
  if (results["per_split"].empty()) return text + "no test part has labelled nodes\n";
  const std::vector<double> scores = results["per_split"].get<std::vector<double>>();
  return text + "\n" +
         score_table({fmt::format("accuracy, {} splits", scores.size())}, {{"test part", {statistics(scores)}}}, {});
}

}  // namespace graphpae::cli
