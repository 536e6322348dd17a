#include "graphpae/run/pretrain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/model/representations.h"
#include "graphpae/ops/tensor_memory.h"
#include "graphpae/run/data_facts.h"
#include "graphpae/run/models.h"
#include "graphpae/run/report.h"
#include "graphpae/run/training_loop.h"
#include "graphpae/train/pretrain.h"

namespace graphpae::run {
namespace {

using Json = nlohmann::ordered_json;

// What an epoch of several steps goes through; none for a whole graph in a step.
struct Items {
  const char* name;
  int64_t count;
};
Items items_of(const PreparedGraph& input, const Settings& settings) {
  return {"nodes", settings.batch_size > 0 ? input.graph->num_nodes() : 0};
}
Items items_of(const std::shared_ptr<const MoleculeInputs>& input, const Settings&) {
  return {"molecules", static_cast<int64_t>(input->with_atoms().size())};
}
Items items_of(const ShardInput& input, const Settings&) { return {"molecules", input.shards->manifest().molecules()}; }

EvaluationPlan plan_evaluation(const ShardSet&, const Settings&, const EvaluateOptions&, const Context&,
                               std::vector<std::string>&) {
  throw usage_error("--evaluate needs labels, and shards hold none");
}

Settings asked_of(const PretrainOptions& options, const Settings& begun) {
  return with_choices_of(begun, options.again ? options.again(begun) : options.settings);
}

// A run goes on with the settings it began with, and more epochs at most.
Settings begun_settings(const PretrainOptions& options) {
  const Settings begun = RunDirectory::settings_of(options.run);
  return settings_to_go_on(options, begun, asked_of(options, begun));
}

std::string config_of(const Settings& settings, const RunOptions& options) {
  return to_yaml(settings) + reading_yaml(options.featurizer);
}

// After its checkpoint was found to fit.
void prolong_config(const RunDirectory& run, const Settings& settings, const RunOptions& options, const Watch& watch) {
  watch.say(prolonged_text(run.settings(), settings));
  write_file(run.file("config.yaml"), config_of(settings, options));
}

// If each of several processes sees its part of a batch.
template <class Data>
void check_memory(const Data& data, Settings settings, int processes, Kernels kernels) {
  settings.batch_size = (settings.batch_size + processes - 1) / processes;
  const int64_t needed = training_bytes(data, settings, kernels), available = available_memory();
  if (needed > available)
    throw memory_error(fmt::format("training needs about {:.1f} GB, {:.1f} GB are available",
                                   static_cast<double>(needed) / 1e9, static_cast<double>(available) / 1e9));
}

// Beside the bar: the loss, how fast, the terms of the last whole epoch, memory.
std::string progress_note(const Pretrainer& trainer, const std::vector<EpochMetrics>& metrics, const Items& items,
                          double epochs_here, double seconds) {
  const bool whole = trainer.step() == 0 && !metrics.empty();
  std::string note = fmt::format("loss {:.4f} ", whole ? metrics.back().loss() : trainer.loss_so_far());
  const int64_t epochs = trainer.settings().epochs;
  if (items.count > 0)
    note = fmt::format("epoch {}/{}  {} {:.0f} {}/s ", std::min(trainer.epoch() + 1, epochs), epochs, note,
                       epochs_here * static_cast<double>(items.count) / seconds, items.name);
  if (!metrics.empty()) {
    const std::string terms = terms_text(metrics.back());
    note += fmt::format("{}lr {:.1e}  ", terms.empty() ? "" : terms + "  ", metrics.back().lr);
  }
  return note + fmt::format("{:.2f} GB", static_cast<double>(resident_memory()) / 1e9);
}

std::string result_card(const std::string& data, const PretrainResult& result) {
  return fmt::format("Trained on {}: {} epochs, final loss {:.6g}.\n", data, result.epochs,
                     result.final_loss().value_or(std::nan("")));
}

// What others have added to the results of a run that is finished.
void keep_other_keys(const std::string& path, Json& json) {
  std::ifstream file(path);
  const Json before = file ? Json::parse(file, nullptr, false) : Json();
  if (!before.is_object()) return;
  for (const auto& [key, value] : before.items()) {
    if (!json.contains(key)) json[key] = value;
  }
}

// The reference is LibTorch as it comes.
template <class Data>
void keep_memory(const Settings& settings, Kernels kernels) {
  if (kernels != Kernels::fused) return;
  keep_freed_memory();
  if (!std::is_same_v<Data, Graph> || settings.batch_size > 0) keep_tensor_memory();
}

}  // namespace

template <class Data>
PretrainResult pretrain(const Data& data, const PretrainOptions& options, const Context& context, const Team& team) {
  const bool resuming = team.text_of_first("resume", team.leads() && options.goes_on() ? "yes" : "no") == "yes";
  const std::string hash = content_hash(data);
  team.check_same(hash);
  std::optional<RunDirectory> run;  // of rank 0
  std::optional<NewRunGuard> guard;
  std::optional<EvaluationPlan> plan;
  Settings settings;
  std::shared_ptr<const Data> seen;  // what the model sees
  std::vector<std::string> said = options.notes;
  const auto say = [&](const std::string& line) { said.push_back(line); };
  const auto see = [&] {
    seen = naming(options.data, [&] { return as_learnt(settings, data, say, context.threads); });
  };
  const auto plan_ahead = [&] {  // its errors come before anything is written
    if (!options.evaluate) return;
    plan = naming(options.data, [&] {
      return plan_evaluation(*seen, settings, with_metric_of(*options.evaluate, options.data), context, said);
    });
  };
  if (resuming) {
    if (team.leads()) {
      run.emplace(RunDirectory::open(options.run, context.command));
      settings = begun_settings(options);
    }
    settings = team.settings_of_first(settings, [&](const Settings& first) { return asked_of(options, first); });
    see();
    plan_ahead();
  } else {
    settings = team.settings_of_first(options.settings, {});
    settings = naming(options.data, [&] { return with_chosen_features(settings, data, say); });
    see();
    naming(options.data, [&] { check_trainable(*seen, settings); });
    plan_ahead();
    if (team.leads()) guard.emplace(run.emplace(RunDirectory::create(options.run, options.force, context.command)));
  }
  context.watch.say_all(said);
  keep_memory<Data>(settings, context.kernels);
  const auto describe = [&] {
    write_environment(*run, options.data, hash, context,
                      {{"processes", team.size()}, {"data_facts", data_facts(data)}});
  };
  if (run && !resuming) {
    write_file(run->file("config.yaml"), config_of(settings, options));
    describe();
  }
  check_memory(*seen, settings, team.size(), context.kernels);

  const Stopwatch preparing;
  const InputOptions inputs = input_options(context, data, settings);
  const auto input = naming(options.data, [&] { return prepare(*seen, settings, inputs); });
  Pretrainer trainer(input, input_shape(*seen), settings, team.processes);
  PretrainResult result;
  result.run = options.run;
  result.seconds = preparing.seconds();
  if (resuming && run) {
    go_on(trainer, *run, hash, "", context.watch);
    if (settings.epochs > run->settings().epochs) prolong_config(*run, settings, options, context.watch);
    describe();  // now that they are its data
  }
  if (team.processes) trainer.follow_first();

  const Items items = items_of(input, settings);
  const double steps = static_cast<double>(trainer.steps_per_epoch());
  const auto epochs_done = [&] {
    return static_cast<double>(trainer.epoch()) + static_cast<double>(trainer.step()) / steps;
  };
  TrainingLoop loop;
  loop.run = run ? &*run : nullptr;
  loop.data = hash;
  loop.checkpoint_every = options.checkpoint_every;
  loop.team = team;
  loop.note = [&, first = epochs_done(), watch = Stopwatch()](const std::vector<EpochMetrics>& metrics) {
    return progress_note(trainer, metrics, items, epochs_done() - first, watch.seconds());
  };
  const bool trains = !trainer.done();
  result.metrics = train(trainer, loop, context);
  result.epochs = trainer.epoch();
  if (!run) return result;

  result.seconds += sum_of_seconds(result.metrics);
  result.seconds_per_epoch = median_of_seconds(result.metrics);
  if (items.count > 0) {
    result.items = items.name;
    if (!result.metrics.empty()) result.items_per_second = static_cast<double>(items.count) / result.seconds_per_epoch;
  }
  result.peak_bytes = peak_memory();
  const auto model = trainer.model();
  save_model(run->file("model"), *model, result_card(options.data, result));
  if (trains) std::filesystem::remove(run->file("map.json"));  // of what was learnt earlier
  if (result.epochs > 0) result.checks = check_embeddings(features_of(trainer.embed_batch()));
  const auto say_findings = [&](size_t first) {
    for (size_t k = first; k < result.checks.findings.size(); ++k)
      context.watch.say("check: " + result.checks.findings[k].text);
  };
  say_findings(0);
  const auto write_results = [&] {
    Json json = results_json(result);
    if (!trains) keep_other_keys(run->file("results.json"), json);
    write_file(run->file("results.json"), json.dump(2) + "\n");
    write_report(run->path(), context.watch);
  };
  write_results();
  if constexpr (!std::is_same_v<Data, ShardSet>) {
    if (!plan) return result;
    result.evaluation =
        run_evaluation(*plan, {model}, rows_of(input, inputs), context.watch, [&](const Features& rows) {
          write_map(run->path(), rows, data, context);
          if (options.observe) options.observe(rows);
        });
    const size_t told = result.checks.findings.size();
    check_scores(result.checks, *result.evaluation);
    say_findings(told);
    write_results();
  }
  return result;
}

template <class Data>
Estimate estimate_pretraining(const Data& data, const PretrainOptions& options, const Context& context) {
  std::vector<std::string> said = options.notes;
  const auto say = [&](const std::string& line) { said.push_back(line); };
  const Settings settings =
      options.goes_on() ? begun_settings(options) : with_chosen_features(options.settings, data, say);
  const auto seen = naming(options.data, [&] { return as_learnt(settings, data, say, context.threads); });
  naming(options.data, [&] { check_trainable(*seen, settings); });
  context.watch.say_all(said);
  keep_memory<Data>(settings, context.kernels);
  return estimate(*seen, settings, context.kernels, context.threads);
}

std::optional<double> PretrainResult::final_loss() const {
  if (metrics.empty()) return std::nullopt;
  return metrics.back().loss();
}

nlohmann::ordered_json results_json(const PretrainResult& result) {
  Json json = {{"epochs", result.epochs},
               {"final_loss", or_null(result.final_loss())},
               {"seconds", result.seconds},
               {"seconds_per_epoch", result.seconds_per_epoch}};
  if (!result.items.empty()) json[result.items + "_per_second"] = or_null(result.items_per_second);
  json["peak_rss_bytes"] = result.peak_bytes;
  json["run"] = result.run;
  if (result.checks.rows > 0) json["checks"] = checks_json(result.checks);
  if (result.evaluation) json["evaluation"] = evaluation_json(*result.evaluation);
  return json;
}

template PretrainResult pretrain(const Graph&, const PretrainOptions&, const Context&, const Team&);
template PretrainResult pretrain(const GraphSet&, const PretrainOptions&, const Context&, const Team&);
template PretrainResult pretrain(const ShardSet&, const PretrainOptions&, const Context&, const Team&);
template Estimate estimate_pretraining(const Graph&, const PretrainOptions&, const Context&);
template Estimate estimate_pretraining(const GraphSet&, const PretrainOptions&, const Context&);
template Estimate estimate_pretraining(const ShardSet&, const PretrainOptions&, const Context&);

}  // namespace graphpae::run
