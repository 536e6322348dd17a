#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/model/embed.h"
#include "graphpae/run/evaluation.h"
#include "graphpae/run/models.h"
#include "graphpae/run/report.h"
#include "graphpae/run/run_directory.h"

namespace graphpae::run {
namespace {

// Scores may be joined only if runs differ in nothing but their seeds.
void check_alike(const Settings& first, Settings other, const std::string& run) {
  if (first.seed == other.seed)
    throw usage_error(
        fmt::format("--also {}: has seed {} as another run; its scores would count twice", run, first.seed));
  other.seed = first.seed;
  if (const auto d = setting_difference(first, other))
    throw usage_error(fmt::format("--also {}: has {}={}, the first run has {}", run, d->key, d->second, d->first));
}

// Data: Graph or GraphSet.
template <class Data>
EvaluationTable evaluate_data(const EvaluatedRuns& runs, const Data& data, const std::string& name,
                              const Settings& settings, const EvaluateOptions& options, const Context& context,
                              std::vector<std::string> notes) {
  const auto seen = naming(name, [&] { return as_seen(*runs.models.front(), data, context.watch.note); });
  if (runs.rival) naming(runs.against, [&] { check_features(*runs.rival, data); });
  const auto plan =
      naming(name, [&] { return plan_evaluation(*seen, settings, with_metric_of(options, name), context, notes); });
  context.watch.say_all(notes);
  keep_freed_memory();
  const InputOptions inputs = input_options(context, data, settings);
  const auto input = naming(name, [&] { return prepare(*seen, settings, inputs); });
  const bool is_run = RunDirectory::holds_run(runs.run);
  EvaluationTable table =
      run_evaluation(plan, runs.models, rows_of(input, inputs), context.watch, [&](const Features& embedded) {
        if (is_run) write_map(runs.run, embedded, data, context);
      });
  if (runs.rival) {
    const auto seen_by_rival = as_seen(*runs.rival, data, context.watch.note);
    const auto other = prepare(*seen_by_rival, runs.rival->settings(), inputs);
    table.rows.insert(table.rows.begin() + 1,
                      against_row(plan, runs.against, *runs.rival, rows_of(other, inputs), context.watch));
  }
  return table;
}

}  // namespace

EvaluatedRuns load_runs(const std::string& run, const std::vector<std::string>& also, const std::string& against) {
  EvaluatedRuns runs{run, against, {load_model(run)}, nullptr};
  for (const std::string& other : also) {
    const auto model = load_model(other);
    for (const auto& earlier : runs.models) check_alike(earlier->settings(), model->settings(), other);
    runs.models.push_back(model);
  }
  if (!against.empty()) runs.rival = load_model(against);
  return runs;
}

EvaluationTable evaluate(const EvaluatedRuns& runs, const Dataset& dataset, const std::string& name,
                         const Settings& settings, const EvaluateOptions& options, const Context& context) {
  return std::visit(
      [&](const auto& data) { return evaluate_data(runs, data, name, settings, options, context, dataset.notes); },
      dataset.content);
}

void keep_evaluation(const std::string& run, const nlohmann::ordered_json& evaluation, const Watch& watch) {
  using Json = nlohmann::ordered_json;
  if (!RunDirectory::holds_run(run)) return;
  // A run under way writes its results itself, and goes before: the evaluation has been printed.
  std::optional<RunDirectory> held;
  try {
    held.emplace(RunDirectory::open(run, "graphpae evaluate"));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return watch.say(std::string("the evaluation is not kept: ") + error.what());
  }
  const std::string path = run + "/results.json";
  Json results = Json::object();
  if (std::ifstream file(path); file) results = Json::parse(file, nullptr, false);
  if (!results.is_object()) throw data_error(path + ": is not a JSON object");
  results["evaluation"] = evaluation;
  write_file(path, results.dump(2) + "\n");
  write_report(run, watch);
}

}  // namespace graphpae::run
