#include "graphpae/train/finetune.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "graphpae/cli/environment.h"
#include "graphpae/cli/progress.h"
#include "graphpae/cli/run_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/model/model_file.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/train/pretrain.h"
#include "graphpae/train/run_directory.h"

namespace graphpae::cli {
namespace {

struct Flags {
  std::string run, output, kernels = "fused";
  DataFlags data;
  ModelFlags model;
  bool force = false;
};

// The settings of a model that is fine-tuned: the shape of the run, trained as recipe and flags say. What the command
// line says about the shape may only repeat it.
Settings settings_for(const ModelFlags& flags, const Settings& begun, const std::string& run) {
  ModelFlags given = flags;
  given.recipe.clear();
  const Settings said = resolve_settings(given, begun);
  if (const auto d = setting_difference(finetune_settings(begun, said), said))
    throw usage_error(fmt::format("{}: the run has {}={}, the command line says {}", run, d->key, d->first, d->second));
  return finetune_settings(begun, resolve_settings(flags, begun));
}

const Split& split_of(const GraphSet& set, std::vector<std::string>& notes) {
  const std::vector<Split>& splits = set.parts().splits;
  if (splits.empty()) throw data_error("the data have no split; `graphpae convert --split scaffold` makes one");
  if (splits.size() > 1) notes.push_back(fmt::format("the first of {} splits is used", splits.size()));
  return splits.front();
}

Json scores_json(const GraphTargets& targets, const FinetuneScores& scores) {
  Json json = Json::object();
  for (int64_t t = 0; t < targets.tasks(); ++t)
    json[targets.names[t]] = scores.tasks[t] ? Json(*scores.tasks[t]) : Json();
  return json;
}

void save_result(const RunDirectory& run, Finetuner& tuner, const std::string& card) {
  save_model(run.file("model"), tuner.model(), card);
  write_safetensors(run.file("model/head.safetensors"), {{"format", "pt"}}, views_of(tuner.head_tensors()));
}

// What is fine-tuned, on what, and how.
struct Task {
  std::shared_ptr<GraphPae> pretrained;  // null: from scratch
  Settings settings;
  Split split;
  std::shared_ptr<const MoleculeInputs> input;
};

Task prepare(const GraphSet& set, const Flags& flags, const Common& common, const Settings& base,
             std::vector<std::string> notes) {
  Task task;
  if (flags.run != "none") task.pretrained = load_model(flags.run);
  task.settings = task.pretrained ? settings_for(flags.model, task.pretrained->settings(), flags.run)
                                  : resolve_settings(flags.model, base);
  naming(flags.data.data, [&] {
    if (task.pretrained) check_features(*task.pretrained, set);
    task.split = split_of(set, notes);
    print_notes(notes);
    const Kernels kernels = parse_kernels(flags.kernels);
    if (kernels == Kernels::fused) keep_freed_memory();
    task.input = make_input(set, task.settings, input_options(common, kernels, set, task.settings));
  });
  return task;
}

Json finetune(const GraphSet& set, const Task& task, const Flags& flags, const Common& common) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const Settings& settings = task.settings;
  const GraphTargets targets{set.parts().task_names, set.parts().targets};
  Finetuner tuner = naming(flags.data.data,
                           [&] { return Finetuner(task.input, targets, task.split, settings, task.pretrained.get()); });
  RunDirectory run = RunDirectory::create(flags.output, flags.force);
  write_file(run.file("config.yaml"), to_yaml(settings));
  const Json environment =
      environment_json(flags.data.data, content_hash(set), common.thread_count(), parse_kernels(flags.kernels));
  write_file(run.file("environment.json"), environment.dump(2) + "\n");

  std::vector<double> times;
  FinetuneEpoch last;
  {
    Progress progress(common, "epochs", settings.epochs);
    while (!tuner.done()) {
      last = tuner.train_epoch();
      times.push_back(last.seconds);
      run.append_line(Json{
          {"epoch", last.epoch},
          {"loss", last.loss},
          {"validation", last.validation},
          {"lr", last.lr},
          {"seconds",
           last.seconds}}.dump());
      progress.update(last.epoch, fmt::format("loss {:.4f}  validation {} {:.4f}", last.loss,
                                              metric_name(tuner.metric()), last.validation));
    }
  }
  tuner.restore_best();
  const FinetuneScores validation = tuner.score(task.split.val),
                       test = naming("test part", [&] { return tuner.score(task.split.test); });
  std::sort(times.begin(), times.end());
  const Json results = {{"epochs", last.epoch},
                        {"final_loss", times.empty() ? Json() : Json(last.loss)},
                        {"seconds", std::chrono::duration<double>(Clock::now() - start).count()},
                        {"seconds_per_epoch", times.empty() ? 0 : times[times.size() / 2]},
                        {"peak_rss_bytes", peak_memory()},
                        {"metric", metric_name(tuner.metric())},
                        {"best_epoch", tuner.best_epoch()},
                        {"validation", validation.mean},
                        {"test_mean", test.mean},
                        {"test", scores_json(targets, test)},
                        {"pretrained", flags.run},
                        {"run", flags.output}};
  save_result(
      run, tuner,
      fmt::format("Fine-tuned on {}: {} {:.4f} on the test part at epoch {}. `head.safetensors` holds the linear "
                  "head over pooled rows.\n",
                  flags.data.data, metric_name(tuner.metric()), test.mean, tuner.best_epoch()));
  write_file(run.file("results.json"), results.dump(2) + "\n");
  return results;
}

}  // namespace

void add_finetune(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("finetune", "train encoder and head on the labels of molecules");
  auto flags = std::make_shared<Flags>();
  verb->add_option("RUN", flags->run, "run or model directory to start from; none: from scratch")->required();
  add_data_flags(*verb, flags->data);
  add_model_flags(*verb, flags->model);
  verb->add_option("-o,--output", flags->output, "run directory")->required();
  verb->add_flag("--force", flags->force, "start anew in an existing run directory");
  verb->add_option("--kernels", flags->kernels, "fused or reference (plain LibTorch)")->capture_default_str();
  verb->callback([flags, &common] {
    parse_kernels(flags->kernels);
    resolve_settings(flags->model);  // errors before the data are read
    const Dataset dataset = load_data(flags->data, common);
    if (dataset.is_graph())
      throw data_error(fmt::format("{}: is one graph; fine-tuning is for molecules", flags->data.data));
    std::vector<std::string> notes = dataset.notes;
    const Settings base = flags->run == "none" ? base_settings(flags->model, dataset.is_graph(), notes) : Settings();
    const Task task = prepare(dataset.graph_set(), *flags, common, base, notes);
    const Json results = finetune(dataset.graph_set(), task, *flags, common);
    if (common.json) return print_json(results);
    fmt::print("{}: {} epochs, best epoch {}: {} {:.4f} (validation {:.4f}), {:.1f} s ({:.3g} s per epoch)\n",
               flags->output, results["epochs"].get<int64_t>(), results["best_epoch"].get<int64_t>(),
               results["metric"].get<std::string>(), results["test_mean"].get<double>(),
               results["validation"].get<double>(), results["seconds"].get<double>(),
               results["seconds_per_epoch"].get<double>());
  });
}

}  // namespace graphpae::cli
