#include "graphpae/run/pretrain.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <variant>

#include "graphpae/cli/context.h"
#include "graphpae/cli/evaluation.h"
#include "graphpae/cli/model_flags.h"
#include "graphpae/cli/repeat.h"
#include "graphpae/core/error.h"

namespace graphpae::cli {
namespace {

struct PretrainFlags {
  DataFlags data;
  ModelFlags model;
  TrainingFlags training;
  std::string precision = "fp32";
  bool evaluate = false;
  run::EvaluateOptions evaluation;
  double timeout = 300;
};

// What there is to train on.
std::variant<Graph, GraphSet, ShardSet> load_training_data(const DataFlags& flags, const Common& common,
                                                           std::vector<std::string>& notes) {
  if (is_shard_directory(flags.data)) return ShardSet(flags.data);
  Dataset dataset = load_data(flags, common);
  notes = std::move(dataset.notes);
  if (dataset.is_graph()) return std::get<Graph>(std::move(dataset.content));
  return std::get<GraphSet>(std::move(dataset.content));
}

void print_result(const run::PretrainResult& result, const Common& common) {
  if (common.json) return print_json(run::results_json(result));
  std::string rate = fmt::format("{:.3g} s per epoch", result.seconds_per_epoch);
  if (result.items_per_second) rate += fmt::format(", {:.0f} {}/s", *result.items_per_second, result.items);
  fmt::print("{}: {} epochs, final loss {}, {:.1f} s ({}), peak memory {:.2f} GB\n", result.run, result.epochs,
             result.final_loss() ? fmt::format("{:.6g}", *result.final_loss()) : "-", result.seconds, rate,
             static_cast<double>(result.peak_bytes) / 1e9);
  if (result.evaluation) fmt::print("\n{}", evaluation_text(*result.evaluation));
}

void pretrain(PretrainFlags& flags, const CLI::App& verb, Common& common) {
  const TrainingFlags& training = flags.training;
  training.check("RUN");
  if (flags.precision != "fp32")
    throw usage_error(fmt::format("--precision {}: only fp32 is offered", flags.precision));
  resolve_settings(flags.model);  // errors before the data are read
  const run::Team team = training.dry_run ? run::Team() : run::join_team(flags.timeout);
  if (!team.leads()) {
    common.quiet = true;
    spdlog::set_level(spdlog::level::err);
  }
  run::PretrainOptions options;
  static_cast<RunOptions&>(options) = training.run;
  options.prolongs = names_setting(flags.model.settings, "epochs");
  options.data = flags.data.data;
  options.again = [&](const Settings& begun) { return resolve_settings(flags.model, begun); };
  if (flags.evaluate) options.evaluate = flags.evaluation;
  const bool resuming = options.goes_on();
  if (!is_shard_directory(flags.data.data))
    resolve_reading(flags.model, resuming ? options.run + "/config.yaml" : "", flags.data);
  options.featurizer = flags.data.featurizer;
  std::vector<std::string> notes;
  const auto data = load_training_data(flags.data, common, notes);
  print_notes(notes);
  const Settings base = resuming ? Settings() : base_settings(flags.model, std::get_if<Graph>(&data), options.notes);
  options.settings = resolve_settings(flags.model, base);

  run::Context context = context_of(common);
  context.kernels = parse_kernels(training.kernels);
  context.again = repeating_words(verb);
  if (training.dry_run)
    return print_estimate(
        std::visit([&](const auto& of) { return run::estimate_pretraining(of, options, context); }, data), common);
  const run::PretrainResult result =
      std::visit([&](const auto& of) { return run::pretrain(of, options, context, team); }, data);
  if (team.leads()) print_result(result, common);
}

}  // namespace

void add_pretrain(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("pretrain", "Learn an encoder without labels.");
  auto flags = std::make_shared<PretrainFlags>();
  add_data_argument(*verb, flags->data);
  add_training_flags(*verb, flags->training);
  add_model_flags(*verb, flags->model);
  CLI::Option* evaluate =
      verb->add_flag("--evaluate", flags->evaluate, "Probe the embeddings after training, as `evaluate` does.");
  add_reading_flags(*verb, flags->data);
  verb->add_option("--precision", flags->precision, "Compute in this precision; fp32 is all there is.")
      ->type_name("fp32")
      ->group(kRare)
      ->capture_default_str();
  verb->add_option("--timeout", flags->timeout,
                   "Give up one of several processes that has been silent for this many seconds.")
      ->type_name("SECONDS")
      ->group(kRare)
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  add_evaluate_flags(*verb, flags->evaluation, evaluate);
  verb->callback([flags, verb, &common] { pretrain(*flags, *verb, common); });
}

}  // namespace graphpae::cli
