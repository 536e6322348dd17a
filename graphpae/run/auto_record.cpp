#include "graphpae/run/auto_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "graphpae/core/error.h"
#include "graphpae/evaluate/statistics.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/run/evaluation.h"

namespace graphpae::run {
namespace {

using Json = nlohmann::ordered_json;
using Named = std::vector<std::pair<std::string, double>>;

Json named_json(const Named& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

Json steps_json(const Named& steps) {
  Json json = Json::array();
  for (const auto& [what, score] : steps) json.push_back({{"added", what}, {"score", score}});
  return json;
}

Json choice_json(const AutoSplit& split) {
  Json json = {{"blocks", Json::array()}};
  for (size_t k = 0; k < split.chosen.size(); ++k) {
    const ChosenBlock& one = split.chosen[k];
    json["blocks"].push_back({{"block", one.block},
                              {"kernel", one.kernel},
                              {"weight", one.weight},
                              {"place", split.parts[k].first},
                              {"raw_weight", split.parts[k].second}});
  }
  json["gaussian_over_sum"] = split.bent;
  json["penalty"] = split.penalty;
  json["search"] = split.search;
  json["val"] = or_null(split.validation);
  json["test"] = split.test;
  json["without_pretrained"] = or_null(split.without);
  json["steps"] = steps_json(split.steps);
  json["alone"] = named_json(split.blocks);
  return json;
}

std::vector<double> tests_of(const AutoResult& result) {
  std::vector<double> tests;
  for (const AutoSplit& split : result.splits) tests.push_back(split.test);
  return tests;
}

// Test scores over splits of each block alone, in the order of the first split.
std::vector<std::pair<std::string, std::vector<double>>> block_tests(const AutoResult& result) {
  std::vector<std::pair<std::string, std::vector<double>>> tests;
  for (const auto& [name, score] : result.splits.front().blocks) {
    tests.emplace_back(name, std::vector<double>());
    for (const AutoSplit& split : result.splits) {
      for (const auto& [other, value] : split.blocks) {
        if (other == name) tests.back().second.push_back(value);
      }
    }
  }
  return tests;
}

std::string best_block(const AutoResult& result) {
  std::string best;
  double score = 0;
  for (const auto& [name, tests] : block_tests(result)) {
    const double mean = statistics(tests).mean;
    if (!best.empty() && !(result.errors ? mean < score : mean > score)) continue;
    best = name;
    score = mean;
  }
  return best;
}

// What models add to the best choice without them, split by split; positive is better.
Statistics model_gain(const AutoResult& result) {
  std::vector<double> gains;
  for (const AutoSplit& split : result.splits) {
    const double gain = split.without ? split.test - *split.without : 0;
    gains.push_back(result.errors ? -gain : gain);
  }
  return statistics(gains);
}

std::map<std::string, double> mean_weights(const AutoResult& result) {
  std::map<std::string, double> weights;
  for (const AutoSplit& split : result.splits) {
    for (const ChosenBlock& one : split.chosen)
      weights[one.block] += one.weight / static_cast<double>(result.splits.size());
  }
  return weights;
}

std::string score_text(const AutoResult& result, double score) {
  return result.errors ? fmt::format("{:.3f}", score) : fmt::format("{:.1f}", 100 * score);
}

}  // namespace

std::string auto_config(const AutoOptions& options) {
  return fmt::format(
      "# Settings of graphpae auto\nverb: auto\nbudget: {}\nseed: {}\nmetric: {}\nblocks: \"{}\"\nsplit: \"{}\"\n"
      "num_splits: {}\nsplit_seed: {}\n",
      options.budget, options.seed, options.metric, fmt::join(options.blocks, ","), options.split, options.num_splits,
      options.split_seed);
}

void check_same_config(const std::string& run, const std::string& has, const std::string& asked) {
  std::istringstream first(has), second(asked);
  for (std::string a, b; std::getline(second, b);) {
    std::getline(first, a);
    if (a != b) throw usage_error(fmt::format("{}: the run has {}, the command line says {}", run, a, b));
  }
}

void check_same_data(const std::string& environment, const std::string& hash) {
  if (!std::filesystem::exists(environment)) return;
  const Json json = Json::parse(read_file(environment, 1 << 20), nullptr, false);
  if (!json.is_object() || !json.contains("data_hash") || json["data_hash"] == hash) return;
  throw data_error(environment + ": the run was begun with other data");
}

void write_choice(const std::string& path, const AutoSplit& split) {
  write_file(path, choice_json(split).dump(2) + "\n");
}

std::optional<AutoSplit> read_choice(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    const Json json = Json::parse(read_file(path, 1 << 24));
    AutoSplit split;
    for (const Json& one : json.at("blocks")) {
      split.chosen.push_back({one.at("block"), one.at("kernel"), one.at("weight")});
      split.parts.emplace_back(one.at("place").get<int64_t>(), one.at("raw_weight").get<double>());
    }
    split.bent = json.at("gaussian_over_sum");
    split.penalty = json.at("penalty");
    split.search = json.at("search");
    if (json.at("val").is_number()) split.validation = json["val"].get<double>();
    split.test = json.at("test");
    if (json.at("without_pretrained").is_number()) split.without = json["without_pretrained"].get<double>();
    for (const Json& step : json.at("steps"))
      split.steps.emplace_back(step.at("added").get<std::string>(), step.at("score").get<double>());
    for (const auto& [name, score] : json.at("alone").items()) split.blocks.emplace_back(name, score.get<double>());
    return split;
  } catch (const Json::exception&) {
    return std::nullopt;  // it is made again
  }
}

double constant_score(const LearningTask& task, const Split& split) {
  const std::vector<int32_t>& test = split.test;
  std::vector<float> row(static_cast<size_t>(task.outputs));
  for (int64_t t = 0; t < task.outputs; ++t) {
    double sum = 0, count = 0;
    for (const int32_t id : split.train) {
      if (!task.has(id, t)) continue;
      sum += task.targets[id * task.outputs + t];
      ++count;
    }
    row[t] = static_cast<float>(sum / std::max(count, 1.0));
  }
  std::vector<int32_t> known;
  std::vector<float> predictions;
  for (const int32_t id : test) {
    if (!task.is_known(id)) continue;
    known.push_back(id);
    predictions.insert(predictions.end(), row.begin(), row.end());
  }
  return task.shown(task.score(known, predictions).value_or(std::nan("")));
}

void judge(AutoResult& result) {
  const double own = statistics(tests_of(result)).mean;
  const std::string best = best_block(result);
  std::vector<double> alone;
  for (const auto& [name, tests] : block_tests(result)) {
    if (name == best) alone = tests;
  }
  result.verdict = fmt::format("The choice scores {} on test rows, {} alone {}", score_text(result, own), best,
                               score_text(result, statistics(alone).mean));
  if (result.plan.models.empty()) {
    result.verdict += "; nothing was pre-trained.";
    return;
  }
  const auto used = std::count_if(result.splits.begin(), result.splits.end(),
                                  [](const AutoSplit& split) { return split.without.has_value(); });
  const auto total = std::ssize(result.splits);
  const Statistics gain = model_gain(result);
  if (used == 0)
    result.verdict += "; pre-training added nothing: it was chosen in none of the splits.";
  else if (gain.count > 1 && !(gain.low > 0))
    result.verdict += fmt::format("; pre-training was chosen in {} of {} splits, and what it adds, {}, may be chance.",
                                  used, total, score_text(result, gain.mean));
  else
    result.verdict += fmt::format("; pre-training was chosen in {} of {} splits and adds {}.", used, total,
                                  score_text(result, gain.mean));
}

Json plan_json(const AutoPlan& plan) {
  Json models = Json::array();
  for (const AutoModel& model : plan.models)
    models.push_back(
        {{"name", model.name}, {"method", model.method}, {"epochs", model.epochs}, {"seconds", model.seconds}});
  return {{"labelled", plan.labelled}, {"metric", plan.metric},
          {"splits", plan.splits},     {"split_source", plan.split_source},
          {"blocks", plan.blocks},     {"models", models},
          {"notes", plan.notes}};
}

Json results_json(const AutoResult& result) {
  Json json = Json::object();
  if (!result.splits.empty()) {
    const std::vector<double> tests = tests_of(result);
    Json evaluation = {{"protocol", "strict"},
                       {"metric", result.plan.metric == "roc_auc" ? "rocauc" : result.plan.metric}};
    evaluation.update(statistics_json(statistics(tests)));
    std::vector<double> validation;
    for (const AutoSplit& split : result.splits) {
      if (split.validation) validation.push_back(*split.validation);
    }
    evaluation["val"] = validation.empty() ? Json() : Json(statistics(validation).mean);
    evaluation["splits"] = result.splits.size();
    evaluation["seeds"] = 1;
    evaluation["per_split"] = tests;
    evaluation["split_source"] = result.plan.split_source;
    evaluation["baselines"] = Json::object();
    evaluation["blocks"] = Json::object();
    for (const auto& [name, scores] : block_tests(result)) {
      Json block = statistics_json(statistics(scores));
      block["per_split"] = scores;
      evaluation["blocks"][name] = block;
      if (name == "features") evaluation["baselines"]["raw_features"] = statistics_json(statistics(scores));
    }
    evaluation["baselines"]["majority"] = {{"mean", result.majority}, {"std", 0.0}, {"ci95", Json()}};
    evaluation["best_block"] = best_block(result);
    const Statistics gain = model_gain(result);
    evaluation["adds"] = {{"mean", gain.mean}, {"ci95", statistics_json(gain)["ci95"]}};
    json = evaluation;
    Json chosen = {{"blocks", mean_weights(result)}};
    std::vector<std::string> methods;
    Json settings = Json::array();
    for (const AutoModel& model : result.plan.models) {
      const bool used = std::any_of(result.splits.begin(), result.splits.end(), [&](const AutoSplit& split) {
        return std::any_of(split.chosen.begin(), split.chosen.end(), [&](const ChosenBlock& one) {
          return one.block == "pretrained" || one.block == "pretrained/" + model.name;
        });
      });
      if (used) methods.push_back(model.method);
      settings.push_back({{"method", model.method},
                          {"epochs", model.epochs},
                          {"chosen", used},
                          {"config", "pretraining/" + model.name + "/config.yaml"}});
    }
    chosen["method"] = methods.empty() ? Json() : Json(fmt::format("{}", fmt::join(methods, "+")));
    chosen["settings"] = settings;
    chosen["per_split"] = Json::array();
    for (const AutoSplit& split : result.splits) chosen["per_split"].push_back(choice_json(split));
    json["chosen"] = chosen;
  } else {
    Json settings = Json::array();
    for (const AutoModel& model : result.plan.models)
      settings.push_back({{"method", model.method}, {"epochs", model.epochs}});
    json["chosen"] = {
        {"blocks", {{"pretrained", 1.0}}}, {"method", result.plan.models.front().method}, {"settings", settings}};
  }
  json["verdict"] = result.verdict;
  json["plan"] = plan_json(result.plan);
  json["seconds"] = result.seconds;
  json["peak_rss_bytes"] = result.peak_bytes;
  json["embeddings"] = result.embeddings;
  json["predictions"] = result.predictions.empty() ? Json() : Json(result.predictions);
  return json;
}

Json results_file(const AutoResult& result) {
  Json json = results_json(result);
  if (!json.contains("mean")) return json;
  for (const char* key :
       {"protocol", "metric", "mean", "std", "ci95", "splits", "seeds", "per_split", "split_source", "baselines"})
    json["evaluation"][key] = json[key];
  return json;
}

}  // namespace graphpae::run
