#include "graphpae/train/finetune.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "graphpae/cli/dry_run.h"
#include "graphpae/cli/environment.h"
#include "graphpae/cli/finetune_table.h"
#include "graphpae/cli/interrupt.h"
#include "graphpae/cli/leave_report.h"
#include "graphpae/cli/progress.h"
#include "graphpae/cli/run_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/model/model_file.h"
#include "graphpae/train/embed.h"
#include "graphpae/train/pretrain.h"
#include "graphpae/train/run_directory.h"

namespace graphpae::cli {
namespace {

struct Flags {
  std::string run, output, kernels = "fused";
  DataFlags data;
  ModelFlags model;
  PartOptions parts;
  bool from_scratch = false, resume = false, force = false, dry_run = false;
  int64_t checkpoint_every = 10;

  bool has_run() const { return run != "none"; }
  bool resuming() const { return resume && RunDirectory::holds_run(output); }
};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Resolved {
  Settings settings;
  FinetuneSettings finetune;
};

// The shape of the run, trained as recipe and flags say. What the command line says about the shape may only repeat it.
Settings settings_on(const Settings& shape, const ModelFlags& flags, const std::string& run,
                     FinetuneSettings& finetune) {
  ModelFlags given = flags;
  given.recipe.clear();
  const Settings said = resolve_settings(given, shape);
  if (const auto d = setting_difference(finetune_settings(shape, said), said))
    throw usage_error(fmt::format("{}: the run has {}={}, the command line says {}", run, d->key, d->first, d->second));
  return finetune_settings(shape, resolve_settings(flags, shape, &finetune));
}

// `base` for a model without RUN.
Resolved new_settings(const Flags& flags, const GraphPae* run, const Settings& base) {
  Resolved resolved;
  resolved.settings = run != nullptr ? settings_on(run->settings(), flags.model, flags.run, resolved.finetune)
                                     : resolve_settings(flags.model, base, &resolved.finetune);
  return resolved;
}

// A run goes on with the settings it began with; what the command line says may only repeat them.
Resolved resumed_settings(const Flags& flags) {
  const std::string config = flags.output + "/config.yaml", text = read_file(config, 1 << 20);
  const Resolved begun{settings_from_yaml(text, config), finetune_settings_from_yaml(text, config)};
  FinetuneSettings finetune = begun.finetune;
  const Settings settings = flags.has_run() ? settings_on(begun.settings, flags.model, flags.output, finetune)
                                            : resolve_settings(flags.model, begun.settings, &finetune);
  auto d = setting_difference(begun.settings, settings);
  if (!d) d = setting_difference(begun.finetune, finetune);
  if (d)
    throw usage_error(
        fmt::format("{}: the run has {}={}, the command line says {}", flags.output, d->key, d->first, d->second));
  return begun;
}

void report_progress(Progress& progress, const Finetuner& tuner, const std::string& name, const std::string& metric,
                     const std::optional<FinetuneEpoch>& last) {
  std::string note = name.empty() ? "" : name + "  ";
  note += fmt::format("epoch {}/{}", std::min(tuner.epoch() + 1, tuner.settings().epochs), tuner.settings().epochs);
  if (last) note += fmt::format("  loss {:.4f}  validation {} {:.4f}", last->loss, metric, last->validation);
  progress.update(tuner.epoch() * tuner.steps_per_epoch() + tuner.step(), note);
}

// All steps that are left, with checkpoints. Returns the lines of metrics.jsonl.
std::vector<Json> train_steps(Finetuner& tuner, RunDirectory& run, const std::string& data, const FinetunePart& part,
                              const Flags& flags, const Common& common) {
  constexpr double kSecondsBetweenCheckpoints = 300;
  std::vector<Json> lines;
  for (const std::string& line : run.rewind_lines(tuner.epoch())) lines.push_back(Json::parse(line));
  const PredictorTasks tasks = part.objective->tasks();
  const std::string metric = tasks.metric + (tasks.kind == OutputKind::numbers ? "/std" : "");
  const GracefulStop stop;
  auto last_checkpoint = Clock::now();
  Progress progress(common, "steps", tuner.settings().epochs * tuner.steps_per_epoch(),
                    tuner.epoch() * tuner.steps_per_epoch() + tuner.step());
  std::optional<FinetuneEpoch> last;
  while (!tuner.done()) {
    const std::optional<FinetuneEpoch> epoch = tuner.train_step();
    if (epoch) {
      last = epoch;
      lines.push_back({{"epoch", epoch->epoch},
                       {"loss", epoch->loss},
                       {"validation", epoch->validation},
                       {"lr", epoch->lr},
                       {"seconds", epoch->seconds}});
      run.append_line(lines.back().dump());
    }
    report_progress(progress, tuner, part.name, metric, last);
    const bool stopping = stop.requested() && !tuner.done();
    if (stopping || tuner.done() || (epoch && epoch->epoch % flags.checkpoint_every == 0) ||
        seconds_since(last_checkpoint) > kSecondsBetweenCheckpoints) {
      run.save_checkpoint(tuner, data);
      last_checkpoint = Clock::now();
    }
    if (stopping) {
      const std::string step = tuner.step() > 0 ? fmt::format(", step {}", tuner.step()) : "";
      throw Error(ErrorKind::interrupted,
                  fmt::format("interrupted after epoch {}{}{}; --resume goes on from there", tuner.epoch(), step,
                              part.name.empty() ? "" : " of " + part.name));
    }
  }
  return lines;
}

std::string model_card(const Flags& flags, const Json& results) {
  return fmt::format(
      "Fine-tuned on {} from {}, protocol {}: {} {} on the test part at epoch {}. `head.safetensors` holds the head "
      "over "
      "rows of the encoder, `tasks.json` what its outputs mean.\n\n    graphpae predict THIS_DIRECTORY DATA -o "
      "predictions.csv\n",
      flags.data.data, results["pretrained"].get<std::string>(), results["protocol"].get<std::string>(),
      results["metric"].get<std::string>(), results["test_mean"].dump(), results["reported_epoch"].get<int64_t>());
}

// Trains a part in its directory, or goes on with it.
Json train_part(const FinetunePart& part, const Resolved& resolved, const GraphPae* pretrained, const std::string& data,
                const Flags& flags, const Common& common) {
  const std::string path = part.directory.empty() ? flags.output : flags.output + "/" + part.directory;
  Finetuner tuner(part.objective, resolved.settings, resolved.finetune, pretrained);
  const bool resuming = flags.resume && RunDirectory::holds_run(path);
  RunDirectory run = resuming || part.directory.empty() ? RunDirectory::open(path) : RunDirectory::create(path, true);
  if (!resuming && !part.directory.empty())
    write_file(run.file("config.yaml"), to_yaml(resolved.settings, resolved.finetune) + reading_yaml(flags.data));
  std::vector<std::string> notes;
  if (flags.resume && run.restore_checkpoint(tuner, data, notes)) {
    const std::string name = part.name.empty() ? "" : part.name + ": ";
    if (tuner.done())
      spdlog::info("{}the run is finished after {} epochs", name, tuner.epoch());
    else
      spdlog::info("{}going on after epoch {}{}", name, tuner.epoch(),
                   tuner.step() > 0 ? fmt::format(", step {}", tuner.step()) : "");
  }
  print_notes(notes);
  const std::vector<Json> lines = train_steps(tuner, run, data, part, flags, common);
  tuner.finish();

  std::vector<double> times;
  double seconds = 0;
  for (const Json& line : lines) {
    times.push_back(line["seconds"].get<double>());
    seconds += times.back();
  }
  std::sort(times.begin(), times.end());
  Json results = {{"epochs", tuner.epoch()},
                  {"final_loss", lines.empty() ? Json() : lines.back()["loss"]},
                  {"seconds", seconds},
                  {"seconds_per_epoch", times.empty() ? 0 : times[times.size() / 2]},
                  {"peak_rss_bytes", peak_memory()},
                  {"protocol", resolved.finetune.protocol == Protocol::strict ? "strict" : "paper"},
                  {"best_epoch", tuner.best_epoch()},
                  {"reported_epoch", tuner.reported_epoch()},
                  {"stopped_early", tuner.stopped_early()}};
  results.update(part.score(tuner.predictor()));
  results["pretrained"] = pretrained == nullptr ? "none" : flags.run;
  results["run"] = path;
  save_predictor(run.file("model"), tuner.predictor(), model_card(flags, results));
  write_file(run.file("results.json"), results.dump(2) + "\n");
  return results;
}

// Which models a run with parts holds, for predict.
void write_parts_file(const std::string& output, const std::vector<FinetunePart>& parts) {
  Json directories = Json::array();
  for (const FinetunePart& part : parts) directories.push_back(part.directory);
  std::filesystem::create_directories(output + "/model");
  write_file(output + "/model/parts.json",
             Json{{"format", "graphpae parts"}, {"version", 1}, {"parts", directories}}.dump(2) + "\n");
}

GraphInput training_input(const Graph& graph, const Settings& settings, const InputOptions& options) {
  return make_input(graph, settings, options);
}
auto training_input(const GraphSet& molecules, const Settings& settings, const InputOptions& options) {
  return prepare(molecules, settings, options);
}

template <class Data>  // Graph or GraphSet
Json finetune(const Data& data, const std::shared_ptr<GraphPae>& run_model, const Settings& base, const Flags& flags,
              const Common& common) {
  const bool resuming = flags.resuming();
  const Resolved resolved = resuming ? resumed_settings(flags) : new_settings(flags, run_model.get(), base);
  const GraphPae* pretrained = flags.from_scratch ? nullptr : run_model.get();
  const Kernels kernels = parse_kernels(flags.kernels);
  if (kernels == Kernels::fused) keep_freed_memory();
  std::vector<std::string> notes;
  const auto parts = naming(flags.data.data, [&] {
    if (run_model) check_features(*run_model, data);
    const auto input = training_input(data, resolved.settings, input_options(common, kernels, data, resolved.settings));
    return finetune_parts(data, input, resolved.settings, resolved.finetune, flags.parts, notes);
  });
  print_notes(notes);
  if (flags.dry_run) {
    NamedShapes shapes = {{"models, one after the other", {static_cast<int64_t>(parts.size())}}};
    for (auto& shape : model_shapes(data, resolved.settings)) {
      const bool decodes = shape.first.find("decoder") != std::string::npos;
      if (!decodes) shapes.push_back(std::move(shape));
    }
    print_estimate(estimate_finetuning(data, resolved.settings, kernels, common.thread_count()), shapes,
                   resolved.settings.epochs * static_cast<int64_t>(parts.size()), common);
    return Json();
  }
  const std::string hash = content_hash(data);
  RunDirectory run = resuming ? RunDirectory::open(flags.output) : RunDirectory::create(flags.output, flags.force);
  std::optional<NewRunGuard> guard;
  if (!resuming) {
    guard.emplace(run);
    write_file(run.file("config.yaml"), to_yaml(resolved.settings, resolved.finetune) + reading_yaml(flags.data));
  }
  Json environment = environment_json(run.path(), flags.data.data, hash, common, kernels);
  environment["pretrained"] = pretrained == nullptr ? "none" : flags.run;
  write_file(run.file("environment.json"), environment.dump(2) + "\n");

  std::vector<Json> results;
  for (const FinetunePart& part : parts) results.push_back(train_part(part, resolved, pretrained, hash, flags, common));
  Json joined = joined_results(parts, results);
  if (joined.contains("parts")) {
    joined["run"] = flags.output;
    write_parts_file(flags.output, parts);
    write_file(run.file("results.json"), joined.dump(2) + "\n");
  }
  leave_report(flags.output);
  return joined;
}

void add_finetune_flags(CLI::App& app, ModelFlags& flags) {
  FinetuneSettings defaults;
  OptionTable table;
  declare(table, defaults);
  add_option_flags(app, table, flags.settings, "finetune.");
}

}  // namespace

void add_finetune(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("finetune", "train encoder and head on labels of molecules or nodes");
  auto flags = std::make_shared<Flags>();
  verb->add_option("RUN", flags->run, "run or model directory to start from; none: from scratch")->required();
  add_data_flags(*verb, flags->data);
  add_model_flags(*verb, flags->model);
  add_finetune_flags(*verb, flags->model);
  verb->add_option("--targets", flags->parts.targets,
                   "targets of molecules by name, for instance mu,alpha (default: all)")
      ->delimiter(',');
  verb->add_flag("--one-at-a-time", flags->parts.one_at_a_time, "a model of its own for every target");
  verb->add_flag("--from-scratch", flags->from_scratch, "the shape of RUN, but weights drawn anew");
  verb->add_option("-o,--output", flags->output, "run directory");
  verb->add_flag("--dry-run", flags->dry_run, "shapes, memory and time estimate; nothing is written");
  verb->add_flag("--resume", flags->resume, "go on with the run in the run directory, if there is one");
  verb->add_flag("--force", flags->force, "start anew in an existing run directory");
  verb->add_option("--checkpoint-every", flags->checkpoint_every, "epochs between checkpoints")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("--kernels", flags->kernels, "fused or reference (plain LibTorch)")->capture_default_str();
  verb->callback([flags, &common] {
    parse_kernels(flags->kernels);
    if (flags->resume && flags->force) throw usage_error("--resume and --force exclude each other");
    if (flags->output.empty() && !flags->dry_run) throw usage_error("-o RUN2 is required: where the run is kept");
    FinetuneSettings checked;
    resolve_settings(flags->model, {}, &checked);  // errors before the data are read
    const std::shared_ptr<GraphPae> model = flags->has_run() ? load_model(flags->run) : nullptr;
    if (model && flags->data.featurizer.empty()) flags->data.featurizer = featurizer_name(model->input_shape());
    resolve_reading(flags->model, flags->resuming() ? flags->output + "/config.yaml" : "", flags->data);
    const Dataset dataset = load_data(flags->data, common);
    std::vector<std::string> notes = dataset.notes;
    const Settings base =
        model || flags->resuming() ? Settings() : base_settings(flags->model, dataset.is_graph(), notes);
    print_notes(notes);  // before an error that they explain
    const Json results =
        std::visit([&](const auto& data) { return finetune(data, model, base, *flags, common); }, dataset.content);
    if (flags->dry_run) return;
    if (common.json) return print_json(results);
    fmt::print("{}", finetune_text(results));
  });
}

}  // namespace graphpae::cli
