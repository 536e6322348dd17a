#include "graphpae/run/finetune.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/evaluation.h"
#include "graphpae/cli/model_data.h"
#include "graphpae/cli/model_flags.h"
#include "graphpae/cli/repeat.h"
#include "graphpae/cli/score_table.h"
#include "graphpae/run/models.h"
#include "graphpae/run/run_directory.h"

namespace graphpae::cli {
namespace {

struct FinetuneFlags {
  std::string run;
  DataFlags data;
  ModelFlags model;
  TrainingFlags training;
  run::PartOptions parts;
  run::EvaluateOptions splits;
  bool from_scratch = false;

  bool has_run() const { return run != "none"; }
};

// The shape of the run, trained as recipe and flags say. What the command line says about the shape may only repeat it.
Settings settings_on(const Settings& shape, const ModelFlags& flags, const std::string& run,
                     FinetuneSettings& finetune) {
  ModelFlags given = flags;
  given.recipe.clear();
  const Settings said = resolve_settings(given, shape);
  run::check_repeats(run, finetune_settings(shape, said), said);
  return finetune_settings(shape, resolve_settings(flags, shape, &finetune));
}

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

// One line about the run, and a line per target or the mean over splits.
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

void finetune(FinetuneFlags& flags, const CLI::App& verb, const Common& common) {
  const TrainingFlags& training = flags.training;
  training.check("RUN2");
  FinetuneSettings checked;
  resolve_settings(flags.model, {}, &checked);  // errors before the data are read
  run::FinetuneOptions options;
  static_cast<RunOptions&>(options) = training.run;
  options.prolongs = names_setting(flags.model.settings, "epochs");
  options.data = flags.data.data;
  options.model = flags.has_run() ? run::load_model(flags.run) : nullptr;
  options.model_name = flags.run;
  options.from_scratch = flags.from_scratch;
  options.parts = flags.parts;
  options.splits = flags.splits;
  options.again = [&](Settings& settings, FinetuneSettings& finetune) {
    settings = flags.has_run() ? settings_on(settings, flags.model, options.run, finetune)
                               : resolve_settings(flags.model, settings, &finetune);
  };
  const bool resuming = options.goes_on();
  if (options.model && flags.data.featurizer.empty()) flags.data.featurizer = run::featurizer_of(*options.model);
  resolve_reading(flags.model, resuming ? options.run + "/config.yaml" : "", flags.data);
  options.featurizer = flags.data.featurizer;
  const Dataset dataset =
      options.model ? load_data_for(*options.model, flags.data, common, false) : load_data(flags.data, common);
  std::vector<std::string> notes = dataset.notes;
  const Graph* graph = std::get_if<Graph>(&dataset.content);
  std::vector<std::string> chosen;  // config.yaml tells it
  const Settings base =
      options.model || resuming ? Settings() : base_settings(flags.model, graph, graph ? chosen : notes);
  print_notes(notes);  // before an error that they explain
  if (!resuming)
    options.settings = options.model
                           ? settings_on(run::settings_of(*options.model), flags.model, flags.run, options.finetune)
                           : resolve_settings(flags.model, base, &options.finetune);

  run::Context context = context_of(common);
  context.kernels = parse_kernels(training.kernels);
  context.again = repeating_words(verb);
  if (training.dry_run)
    return print_estimate(
        std::visit([&](const auto& data) { return run::estimate_finetuning(data, options, context); }, dataset.content),
        common);
  const run::FinetuneResult result =
      std::visit([&](const auto& data) { return run::finetune(data, options, context); }, dataset.content);
  if (common.json) return print_json(run::results_json(result));
  fmt::print("{}", finetune_text(result));
}

void add_finetune_flags(CLI::App& app, ModelFlags& flags) {
  FinetuneSettings defaults;
  add_option_flags(app, table_of(defaults), flags.settings, {{"loss", "freeze"}, kSettings, "finetune."});
}

}  // namespace

void add_finetune(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("finetune", "Train encoder and head on labels of nodes or molecules.");
  auto flags = std::make_shared<FinetuneFlags>();
  flags->training.run.checkpoint_every = 10;
  verb->add_option("RUN", flags->run, "Start from this run or model directory, or from scratch if it is `none`.")
      ->required()
      ->type_name("RUN");
  add_data_argument(*verb, flags->data);
  add_training_flags(*verb, flags->training);
  add_model_flags(*verb, flags->model);
  add_finetune_flags(*verb, flags->model);
  verb->add_option("--targets", flags->parts.targets,
                   "Learn these targets of molecules, for instance mu,alpha; the default is all.")
      ->type_name("NAMES")
      ->delimiter(',');
  verb->add_flag("--from-scratch", flags->from_scratch, "Take the shape of RUN, but draw its weights anew.");
  add_split_flags(*verb, flags->splits);
  add_reading_flags(*verb, flags->data);
  add_matching_flag(*verb, flags->data);
  verb->add_flag("--one-at-a-time", flags->parts.one_at_a_time, "Train a model of its own for every target.")
      ->group(kRare);
  verb->callback([flags, verb, &common] { finetune(*flags, *verb, common); });
}

}  // namespace graphpae::cli
