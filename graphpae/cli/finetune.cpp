#include "graphpae/run/finetune.h"

#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/dry_run.h"
#include "graphpae/cli/finetune_table.h"
#include "graphpae/cli/model_flags.h"
#include "graphpae/run/models.h"
#include "graphpae/run/run_settings.h"

namespace graphpae::cli {
namespace {

struct Flags {
  std::string run;
  DataFlags data;
  ModelFlags model;
  TrainingFlags training;
  run::PartOptions parts;
  bool from_scratch = false;

  bool has_run() const { return run != "none"; }
};

// The shape of the run, trained as recipe and flags say. What the command line says about the shape may only repeat it.
Settings settings_on(const Settings& shape, const ModelFlags& flags, const std::string& run,
                     FinetuneSettings& finetune) {
  ModelFlags given = flags;
  given.recipe.clear();
  const Settings said = resolve_settings(given, shape);
  run::check_repeats(run, run::finetune_settings(shape, said), said);
  return run::finetune_settings(shape, resolve_settings(flags, shape, &finetune));
}

void finetune(Flags& flags, const Common& common) {
  const TrainingFlags& training = flags.training;
  training.check("RUN2");
  FinetuneSettings checked;
  resolve_settings(flags.model, {}, &checked);  // errors before the data are read
  run::FinetuneOptions options;
  options.run = training.output;
  options.resume = training.resume;
  options.force = training.force;
  options.checkpoint_every = training.checkpoint_every;
  options.data = flags.data.data;
  options.model = flags.has_run() ? run::load_model(flags.run) : nullptr;
  options.model_name = flags.run;
  options.from_scratch = flags.from_scratch;
  options.parts = flags.parts;
  options.again = [&](Settings& settings, FinetuneSettings& finetune) {
    settings = flags.has_run() ? settings_on(settings, flags.model, training.output, finetune)
                               : resolve_settings(flags.model, settings, &finetune);
  };
  const bool resuming = options.goes_on();
  if (options.model && flags.data.featurizer.empty()) flags.data.featurizer = run::featurizer_of(*options.model);
  resolve_reading(flags.model, resuming ? training.output + "/config.yaml" : "", flags.data);
  options.featurizer = flags.data.featurizer;
  const Dataset dataset = load_data(flags.data, common);
  std::vector<std::string> notes = dataset.notes;
  const Settings base = options.model || resuming ? Settings() : base_settings(flags.model, dataset.is_graph(), notes);
  print_notes(notes);  // before an error that they explain
  if (!resuming)
    options.settings = options.model
                           ? settings_on(run::settings_of(*options.model), flags.model, flags.run, options.finetune)
                           : resolve_settings(flags.model, base, &options.finetune);

  run::Context context = context_of(common);
  context.kernels = parse_kernels(training.kernels);
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
  OptionTable table;
  declare(table, defaults);
  add_option_flags(app, table, flags.settings, "finetune.");
}

}  // namespace

void add_finetune(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("finetune", "train encoder and head on labels of molecules or nodes");
  auto flags = std::make_shared<Flags>();
  flags->training.checkpoint_every = 10;
  verb->add_option("RUN", flags->run, "run or model directory to start from; none: from scratch")->required();
  add_data_flags(*verb, flags->data);
  add_model_flags(*verb, flags->model);
  add_finetune_flags(*verb, flags->model);
  verb->add_option("--targets", flags->parts.targets,
                   "targets of molecules by name, for instance mu,alpha (default: all)")
      ->delimiter(',');
  verb->add_flag("--one-at-a-time", flags->parts.one_at_a_time, "a model of its own for every target");
  verb->add_flag("--from-scratch", flags->from_scratch, "the shape of RUN, but weights drawn anew");
  add_training_flags(*verb, flags->training);
  verb->callback([flags, &common] { finetune(*flags, common); });
}

}  // namespace graphpae::cli
