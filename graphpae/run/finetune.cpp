#include "graphpae/run/finetune.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/data/node_table.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"
#include "graphpae/model/embed.h"
#include "graphpae/run/data_facts.h"
#include "graphpae/run/evaluation.h"
#include "graphpae/run/models.h"
#include "graphpae/run/report.h"
#include "graphpae/run/training_loop.h"
#include "graphpae/train/finetune.h"

namespace graphpae::run {
namespace {

using Json = nlohmann::ordered_json;

// One call: what its parts share.
struct Work {
  FinetuneOptions options;
  const Context& context;
  std::vector<FinetunePart> parts;

  const Model* pretrained() const { return options.from_scratch ? nullptr : options.model.get(); }
  std::string pretrained_name() const { return pretrained() == nullptr ? "none" : options.model_name; }
  std::string config() const { return to_yaml(options.settings, options.finetune) + reading_yaml(options.featurizer); }
};

// A run goes on with the settings it began with.
void take_begun_settings(FinetuneOptions& options) {
  const std::string config = options.run + "/config.yaml", text = read_file(config, 1 << 20);
  const Settings settings = settings_from_yaml(text, config);
  const FinetuneSettings finetune = finetune_settings_from_yaml(text, config);
  if (options.again) {
    options.settings = settings;
    options.finetune = finetune;
    options.again(options.settings, options.finetune);
  }
  options.settings = settings_to_go_on(options, settings, with_choices_of(settings, options.settings));
  check_repeats(options.run, finetune, options.finetune);
  options.finetune = finetune;
}

// Settings, prepared data and parts.
template <class Data>  // Graph or GraphSet
Work begin(const Data& data, const FinetuneOptions& options, const Context& context,
           std::shared_ptr<const Data>& seen) {
  Work work{options, context, {}};
  if (options.goes_on()) take_begun_settings(work.options);
  if (context.kernels == Kernels::fused) keep_freed_memory();
  std::vector<std::string> notes;
  work.parts = naming(options.data, [&] {
    if (options.model) {
      seen = as_seen(*options.model, data, context.watch.note);
    } else {
      if (!options.goes_on())
        work.options.settings = with_chosen_features(work.options.settings, data, context.watch.note);
      seen = as_learnt(work.options.settings, data, context.watch.note, context.threads);
    }
    return finetune_parts(*seen, work.options, input_options(context, data, work.options.settings), notes);
  });
  context.watch.say_all(notes);
  return work;
}

TrainingLoop loop_of(const FinetunePart& part, const Finetuner& tuner, RunDirectory& run, const std::string& data,
                     const FinetuneOptions& options) {
  const PredictorTasks tasks = part.objective->tasks();
  const std::string metric = tasks.metric + (tasks.kind == OutputKind::numbers ? "/std" : "");
  TrainingLoop loop;
  loop.run = &run;
  loop.data = data;
  loop.checkpoint_every = options.checkpoint_every;
  loop.part = part.name;
  loop.note = [&tuner, metric, name = part.name](const std::vector<EpochMetrics>& metrics) {
    const int64_t epochs = tuner.settings().epochs;
    std::string note = name.empty() ? "" : name + "  ";
    note += fmt::format("epoch {}/{}", std::min(tuner.epoch() + 1, epochs), epochs);
    if (!metrics.empty())
      note += fmt::format("  loss {:.4f}  validation {} {:.4f}", metrics.back().loss(), metric,
                          metrics.back().term("validation"));
    return note;
  };
  return loop;
}

std::string model_card(const std::string& data, const PartResult& result) {
  return fmt::format(
      "Fine-tuned on {} from {}, protocol {}: {} {} on the test part at epoch {}. `head.safetensors` holds the head "
      "over "
      "rows of the encoder, `tasks.json` what its outputs mean.\n\n    graphpae predict THIS_DIRECTORY DATA -o "
      "predictions.csv\n",
      data, result.pretrained, name_of(result.protocol), result.metric, or_null(result.test_mean).dump(),
      result.reported_epoch);
}

std::string test_table(const std::vector<TestRow>& rows) {
  std::string text = "row,target,label,prediction\n";
  for (const TestRow& row : rows)
    text += fmt::format("{},{},{:.9g},{:.9g}\n", row.row, table_field(row.target, ','), row.label, row.prediction);
  return text;
}

// After its checkpoint was found to fit. The whole run first: what it says is what its parts are trained to.
void prolong_configs(const RunDirectory& whole, const RunDirectory& part, const Work& work) {
  const Settings before = whole.settings();
  if (work.options.settings.epochs > before.epochs) {
    work.context.watch.say(prolonged_text(before, work.options.settings));
    write_file(whole.file("config.yaml"), work.config());
  }
  if (work.options.settings.epochs > part.settings().epochs) write_file(part.file("config.yaml"), work.config());
}

// Trains a part in its directory, or goes on with it.
PartResult train_part(const FinetunePart& part, const Work& work, const std::string& data, const RunDirectory& whole) {
  const FinetuneOptions& options = work.options;
  PartResult result;
  result.name = part.name;
  result.directory = part.directory;
  result.run = part.directory.empty() ? options.run : options.run + "/" + part.directory;
  Finetuner tuner(part.objective, options.settings, options.finetune, work.pretrained());
  const bool resuming = options.resume && RunDirectory::holds_run(result.run);
  RunDirectory run = part.directory.empty() ? whole
                     : resuming             ? RunDirectory::open(result.run, work.context.command)
                                            : RunDirectory::create(result.run, true, work.context.command);
  if (!resuming && !part.directory.empty()) write_file(run.file("config.yaml"), work.config());
  if (options.resume) go_on(tuner, run, data, part.name, work.context.watch);
  if (resuming) prolong_configs(whole, run, work);
  const std::vector<EpochMetrics> metrics = train(tuner, loop_of(part, tuner, run, data, options), work.context);
  tuner.finish();

  result.epochs = tuner.epoch();
  if (!metrics.empty()) result.final_loss = metrics.back().loss();
  result.seconds = sum_of_seconds(metrics);
  result.seconds_per_epoch = median_of_seconds(metrics);
  result.peak_bytes = peak_memory();
  result.protocol = options.finetune.protocol;
  result.best_epoch = tuner.best_epoch();
  result.reported_epoch = tuner.reported_epoch();
  result.stopped_early = tuner.stopped_early();
  result.pretrained = work.pretrained_name();
  result.split_source = part.split_source;
  result.split_seed = part.split_seed;
  part.score(tuner.predictor(), result);
  save_predictor(run.file("model"), tuner.predictor(), model_card(options.data, result));
  if (!result.test_rows.empty()) write_file(run.file("test_predictions.csv"), test_table(result.test_rows));
  write_file(run.file("results.json"), results_json(result).dump(2) + "\n");
  return result;
}

// Which models a run with parts holds, for predict.
void write_parts_file(const RunDirectory& run, const std::vector<FinetunePart>& parts) {
  Json directories = Json::array();
  for (const FinetunePart& part : parts) directories.push_back(part.directory);
  std::filesystem::create_directories(run.file("model"));
  write_file(run.file("model/parts.json"),
             Json{{"format", "graphpae parts"}, {"version", 1}, {"parts", directories}}.dump(2) + "\n");
}

// For a run that goes on, for `evaluate --splits` and for people.
void write_drawn_splits(const RunDirectory& run, const std::vector<FinetunePart>& parts) {
  std::vector<Split> splits;
  for (const FinetunePart& part : parts) {
    if (part.drawn) splits.push_back(*part.drawn);
  }
  if (!splits.empty()) write_splits(run.file("splits.npz"), splits);
}

}  // namespace

template <class Data>
FinetuneResult finetune(const Data& data, const FinetuneOptions& options, const Context& context) {
  const bool resuming = options.goes_on();
  std::shared_ptr<const Data> seen;
  const Work work = begin(data, options, context, seen);
  const std::string hash = content_hash(data);
  RunDirectory run = resuming ? RunDirectory::open(options.run, context.command)
                              : RunDirectory::create(options.run, options.force, context.command);
  std::optional<NewRunGuard> guard;
  if (!resuming) {
    guard.emplace(run);
    write_file(run.file("config.yaml"), work.config());
  }
  write_environment(run, options.data, hash, context,
                    {{"pretrained", work.pretrained_name()}, {"data_facts", data_facts(data)}});

  write_drawn_splits(run, work.parts);
  FinetuneResult result{options.run, {}};
  for (const FinetunePart& part : work.parts) result.parts.push_back(train_part(part, work, hash, run));
  if (result.has_parts()) {
    write_parts_file(run, work.parts);
    write_file(run.file("results.json"), results_json(result).dump(2) + "\n");
  }
  write_report(options.run, context.watch);
  return result;
}

template <class Data>
Estimate estimate_finetuning(const Data& data, const FinetuneOptions& options, const Context& context) {
  std::shared_ptr<const Data> seen;
  const Work work = begin(data, options, context, seen);
  const int64_t models = static_cast<int64_t>(work.parts.size());
  Estimate found =
      graphpae::estimate_finetuning(*seen, work.parts.front().objective, work.options.settings, work.options.finetune);
  found.epochs *= models;
  found.shapes.insert(found.shapes.begin(), {"models, one after the other", {models}});
  return found;
}

template FinetuneResult finetune(const Graph&, const FinetuneOptions&, const Context&);
template FinetuneResult finetune(const GraphSet&, const FinetuneOptions&, const Context&);
template Estimate estimate_finetuning(const Graph&, const FinetuneOptions&, const Context&);
template Estimate estimate_finetuning(const GraphSet&, const FinetuneOptions&, const Context&);

}  // namespace graphpae::run
