#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/evaluation.h"
#include "graphpae/cli/model_data.h"
#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/run/evaluation.h"
#include "graphpae/run/models.h"

namespace graphpae::cli {
namespace {

struct EvaluateFlags {
  std::string run, against, output;
  std::vector<std::string> also;
  DataFlags data;
  run::EvaluateOptions evaluate;
  SettingFlags settings;
};

}  // namespace

void add_evaluate(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("evaluate", "Probe frozen embeddings over all splits, beside baselines.");
  auto flags = std::make_shared<EvaluateFlags>();
  verb->add_option("RUN", flags->run, "Take the embeddings of this run or model directory.")
      ->required()
      ->type_name("RUN");
  add_data_argument(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "Also write the results as JSON to this file.")->type_name("FILE");
  add_evaluate_flags(*verb, flags->evaluate);
  verb->add_option("--against", flags->against, "Compare with this run, split by split.")->type_name("RUN");
  verb->add_option("--also", flags->also,
                   "Join the scores of this run, which differs in its seed only; the flag may be repeated.")
      ->take_all()
      ->expected(1)
      ->type_name("RUN");
  add_reading_flags(*verb, flags->data);
  add_matching_flag(*verb, flags->data);
  Settings defaults;
  OptionTable table;
  declare_probe(table, defaults);
  add_setting_flags(*verb, table, flags->settings);
  verb->callback([flags, &common] {
    if (!flags->against.empty() && !flags->also.empty())
      throw usage_error("--against compares two runs: it does not go with --also");
    const run::EvaluatedRuns runs = run::load_runs(flags->run, flags->also, flags->against);
    Settings settings = run::settings_of(*runs.models.front());
    OptionTable probe;
    declare_probe(probe, settings);
    apply_settings(probe, flags->settings);
    if (flags->data.featurizer.empty()) flags->data.featurizer = run::featurizer_of(*runs.models.front());
    const Dataset dataset = load_data_for(*runs.models.front(), flags->data, common, false);
    const SettingFlags& given = flags->settings;
    if (!dataset.is_graph() && !(given.set.empty() && given.config.empty() && given.flags.empty()))
      throw usage_error("settings of the probe are for one graph: molecules have a grid of penalties");
    const run::Context context = context_of(common);
    const run::EvaluationTable scores =
        run::evaluate(runs, dataset, flags->data.data, settings, flags->evaluate, context);
    Json json = run::evaluation_json(scores);
    json["data"] = flags->data.data;
    if (common.json)
      print_json(json);
    else
      fmt::print("{}", evaluation_text(scores));
    if (!flags->output.empty()) write_file(flags->output, json.dump(2) + "\n");
    run::keep_evaluation(flags->run, json, context.watch);
  });
}

}  // namespace graphpae::cli
