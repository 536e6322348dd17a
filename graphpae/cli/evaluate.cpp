#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>

#include "graphpae/cli/evaluation_table.h"
#include "graphpae/cli/leave_report.h"
#include "graphpae/cli/molecule_evaluation_table.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/model/model_file.h"
#include "graphpae/train/run_directory.h"

namespace graphpae::cli {
namespace {

struct Flags {
  std::string run, against, output;
  std::vector<std::string> also;
  DataFlags data;
  EvaluateFlags evaluate;
  SettingFlags settings;
};

// Scores may be joined only if runs differ in nothing but their seeds.
void check_alike(const Settings& first, Settings other, const std::string& run) {
  if (first.seed == other.seed)
    throw usage_error(
        fmt::format("--also {}: has seed {} as another run; its scores would count twice", run, first.seed));
  other.seed = first.seed;
  if (const auto d = setting_difference(first, other))
    throw usage_error(fmt::format("--also {}: has {}={}, the first run has {}", run, d->key, d->second, d->first));
}

std::vector<std::shared_ptr<GraphPae>> load_models(const Flags& flags) {
  std::vector<std::shared_ptr<GraphPae>> models = {load_model(flags.run)};
  for (const std::string& run : flags.also) {
    const auto model = load_model(run);
    for (const auto& earlier : models) check_alike(earlier->settings(), model->settings(), run);
    models.push_back(model);
  }
  return models;
}

// What is evaluated.
struct Subject {
  std::vector<std::shared_ptr<GraphPae>> models;
  std::shared_ptr<GraphPae> rival;  // of --against, or null
  Settings settings;                // of the models, with the flags of the probe
};

// The results as JSON, and the table for people in `text`. Data: Graph or GraphSet.
template <class Data>
Json evaluate_data(const Data& data, const Subject& subject, const Flags& flags, const Common& common,
                   std::vector<std::string> notes, std::string& text) {
  const std::string& name = flags.data.data;
  naming(name, [&] { check_features(*subject.models.front(), data); });
  if (subject.rival) naming(flags.against, [&] { check_features(*subject.rival, data); });
  const auto plan =
      naming(name, [&] { return plan_evaluation(data, subject.settings, flags.evaluate, common, notes); });
  print_notes(notes);
  keep_freed_memory();
  const InputOptions options = input_options(common, Kernels::fused, data, subject.settings);
  const auto input = naming(name, [&] { return prepare(data, subject.settings, options); });
  const bool is_run = RunDirectory::holds_run(flags.run);
  auto rows = run_evaluation(plan, subject.models, input, options, common, [&](const Features& embedded) {
    if (is_run) leave_map(flags.run, embedded, data, common);
  });
  if (subject.rival) rows.insert(rows.begin() + 1, against_row(plan, flags.against, *subject.rival, options, common));
  text = evaluation_text(plan, rows);
  return evaluation_json(plan, rows);
}

// Adds the evaluation to the results of the run, if RUN is one and can be written.
void keep_results(const std::string& run, const Json& evaluation) {
  if (!RunDirectory::holds_run(run)) return;
  const std::string path = run + "/results.json";
  Json results = Json::object();
  if (std::ifstream file(path); file) results = Json::parse(file, nullptr, false);
  if (!results.is_object()) throw data_error(path + ": is not a JSON object");
  results["evaluation"] = evaluation;
  write_file(path, results.dump(2) + "\n");
  leave_report(run);
}

}  // namespace

void add_evaluate(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("evaluate", "probe frozen embeddings over all splits, beside baselines");
  auto flags = std::make_shared<Flags>();
  verb->add_option("RUN", flags->run, "run directory or model directory")->required();
  add_data_flags(*verb, flags->data);
  verb->add_option("--also", flags->also, "a run that differs in its seed only: scores are joined (repeatable)")
      ->take_all()
      ->expected(1);
  verb->add_option("--against", flags->against, "another run: the difference, split by split");
  verb->add_option("-o,--output", flags->output, "also write the results as JSON to this file");
  add_evaluate_flags(*verb, flags->evaluate);
  Settings defaults;
  OptionTable table;
  declare_probe(table, defaults);
  add_setting_flags(*verb, table, flags->settings);
  verb->callback([flags, &common] {
    if (!flags->against.empty() && !flags->also.empty())
      throw usage_error("--against compares two runs: it does not go with --also");
    Subject subject{load_models(*flags), flags->against.empty() ? nullptr : load_model(flags->against), {}};
    subject.settings = subject.models.front()->settings();
    OptionTable probe;
    declare_probe(probe, subject.settings);
    apply_settings(probe, flags->settings);
    if (flags->data.featurizer.empty()) flags->data.featurizer = featurizer_name(subject.models.front()->input_shape());
    const Dataset dataset = load_data(flags->data, common);
    const SettingFlags& given = flags->settings;
    if (!dataset.is_graph() && !(given.set.empty() && given.config.empty() && given.flags.empty()))
      throw usage_error("settings of the probe are for one graph: molecules have a grid of penalties");
    std::string text;
    Json json =
        std::visit([&](const auto& data) { return evaluate_data(data, subject, *flags, common, dataset.notes, text); },
                   dataset.content);
    json["data"] = flags->data.data;
    if (common.json)
      print_json(json);
    else
      fmt::print("{}", text);
    if (!flags->output.empty()) write_file(flags->output, json.dump(2) + "\n");
    keep_results(flags->run, json);
  });
}

}  // namespace graphpae::cli
