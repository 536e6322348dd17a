#include "graphpae/run/pretrain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/ops/tensor_memory.h"
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
  return options.again ? options.again(begun) : options.settings;
}

// A run goes on with the settings it began with.
Settings begun_settings(const PretrainOptions& options, const RunDirectory& run) {
  const Settings begun = run.settings();
  check_repeats(run.path(), begun, asked_of(options, begun));
  return begun;
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
  const auto plan_ahead = [&] {  // its errors come before anything is written
    if (!options.evaluate) return;
    std::vector<std::string> notes;
    plan = naming(options.data, [&] {
      return plan_evaluation(data, settings, with_metric_of(*options.evaluate, options.data), context, notes);
    });
    context.watch.say_all(notes);
  };
  if (resuming) {
    if (team.leads()) settings = begun_settings(options, run.emplace(RunDirectory::open(options.run)));
    settings = team.settings_of_first(settings, [&](const Settings& first) { return asked_of(options, first); });
    plan_ahead();
  } else {
    settings = team.settings_of_first(options.settings, {});
    naming(options.data, [&] { check_trainable(data, settings); });
    plan_ahead();
    if (team.leads()) guard.emplace(run.emplace(RunDirectory::create(options.run, options.force)));
  }
  keep_memory<Data>(settings, context.kernels);
  if (run) {
    if (!resuming) write_file(run->file("config.yaml"), to_yaml(settings) + reading_yaml(options.featurizer));
    write_environment(*run, options.data, hash, context, {{"processes", team.size()}});
  }
  check_memory(data, settings, team.size(), context.kernels);

  const Stopwatch preparing;
  const InputOptions inputs = input_options(context, data, settings);
  const auto input = naming(options.data, [&] { return prepare(data, settings, inputs); });
  Pretrainer trainer(input, input_shape(data), settings, team.processes);
  PretrainResult result;
  result.run = options.run;
  result.seconds = preparing.seconds();
  if (resuming && run) go_on(trainer, *run, hash, "", context.watch);
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
  const auto write_results = [&] {
    write_file(run->file("results.json"), results_json(result).dump(2) + "\n");
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
    write_results();
  }
  return result;
}

template <class Data>
Estimate estimate_pretraining(const Data& data, const PretrainOptions& options, const Context& context) {
  const Settings settings =
      options.goes_on() ? begun_settings(options, RunDirectory::open(options.run)) : options.settings;
  naming(options.data, [&] { check_trainable(data, settings); });
  keep_memory<Data>(settings, context.kernels);
  return estimate(data, settings, context.kernels, context.threads);
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
