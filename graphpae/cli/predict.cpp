#include "graphpae/run/predict.h"

#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/model_data.h"
#include "graphpae/cli/model_flags.h"
#include "graphpae/core/error.h"

namespace graphpae::cli {
namespace {

struct PredictFlags {
  std::string run, output, kernels = "fused";
  DataFlags data;
};

void predict(PredictFlags& flags, const Common& common) {
  check_prediction_path(flags.output);
  check_not_input(flags.output, flags.data);
  run::Context context = context_of(common);
  context.kernels = parse_kernels(flags.kernels);
  const run::Predictors predictors = run::load_predictors(flags.run);
  if (flags.data.featurizer.empty()) flags.data.featurizer = predictors.featurizer();
  const Dataset dataset = load_data_for(predictors.model(), flags.data, common);
  const run::Predictions result = naming(flags.data.data, [&] {
    return std::visit([&](const auto& data) { return run::predict(predictors, data, context); }, dataset.content);
  });
  result.write(flags.output);
  const auto units = predictors.units();
  if (common.json) {
    Json named = Json::object();
    for (const auto& [name, unit] : units) named[name] = unit;
    return print_json({{"rows", result.rows()},
                       {"columns", result.table.columns},
                       {"units", named},
                       {"empty", result.empty_rows()},
                       {"output", flags.output}});
  }
  const int64_t empty = result.empty_rows();
  fmt::print("{}: {} rows{} x {} columns\n", flags.output, result.rows(),
             empty > 0 ? fmt::format(" ({} of them empty, not molecules)", empty) : "", result.columns());
  for (const auto& [name, unit] : units) fmt::print("  {:<12} [{}]\n", name, unit);
}

}  // namespace

void add_predict(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("predict", "Write the predictions of a fine-tuned model, one row per input row.");
  auto flags = std::make_shared<PredictFlags>();
  flags->data.on_invalid = "nan";  // a row per input row
  verb->add_option("RUN", flags->run, "Take the model of this run or model directory, which `finetune` wrote.")
      ->required()
      ->type_name("RUN");
  add_data_argument(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "Write to this file (.csv, .tsv or .npy).")
      ->required()
      ->type_name("FILE");
  add_reading_flags(*verb, flags->data);
  add_matching_flag(*verb, flags->data);
  add_kernels_flag(*verb, flags->kernels);
  verb->callback([flags, &common] { predict(*flags, common); });
}

}  // namespace graphpae::cli
