#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>

#include "graphpae/cli/output_file.h"
#include "graphpae/cli/run_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/prediction_file.h"
#include "graphpae/model/predictor.h"
#include "graphpae/train/embed.h"

namespace graphpae::cli {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string run, output, kernels = "fused";
  DataFlags data;
};

// One model, or those of a run with a model per target. A run over several splits holds rivals, of which one is meant.
std::vector<Predictor> load_predictors(const std::string& run) {
  const std::string path = run + "/model/parts.json";
  if (!fs::exists(path)) {
    std::vector<Predictor> one;
    one.push_back(load_predictor(run));
    return one;
  }
  const Json json = Json::parse(read_file(path, 1 << 24), nullptr, false);
  if (!json.is_object() || !json.contains("parts") || !json["parts"].is_array() || json["parts"].empty() ||
      !std::all_of(json["parts"].begin(), json["parts"].end(), [](const Json& part) { return part.is_string(); }))
    throw data_error(fmt::format("{}: not a list of parts", path));
  std::vector<Predictor> predictors;
  for (const Json& part : json["parts"]) {
    const std::string name = part.get<std::string>();
    if (name.starts_with("splits/"))
      throw usage_error(fmt::format("{}: holds a model for each of {} splits; name one, such as {}/{}", run,
                                    json["parts"].size(), run, name));
    predictors.push_back(load_predictor(run + "/" + name));
    if (predictors.back().tasks.kind == OutputKind::node_classes)
      throw data_error(fmt::format("{}: part {} is about nodes", path, name));
  }
  return predictors;
}

// The SMILES, or row numbers if there are none (mol blocks).
PredictionTable molecule_table(const GraphSet& set) {
  PredictionTable table;
  const TextColumn& texts = set.parts().texts;
  bool smiles = !texts.empty();
  for (int64_t g = 0; g < texts.size() && smiles; ++g) smiles = texts[g].find('\n') == std::string_view::npos;
  table.row_name = smiles ? "smiles" : "row";
  if (smiles) table.rows = texts;
  return table;
}

struct Predictions {
  PredictionTable table;
  std::vector<double> values;  // [R,T], of the table
};

Predictions predict(std::vector<Predictor>& predictors, const GraphSet& set, Kernels kernels, const Common& common) {
  for (const Predictor& predictor : predictors) check_features(*predictor.model, set);
  const Settings& settings = predictors.front().model->settings();
  const auto input = prepare(set, settings, input_options(common, kernels, set, settings));
  std::vector<int32_t> all(static_cast<size_t>(set.num_graphs()));
  std::iota(all.begin(), all.end(), 0);
  Predictions result{molecule_table(set), {}};
  std::vector<std::vector<double>> columns;
  for (Predictor& predictor : predictors) {
    const size_t width = predictor.tasks.names.size();
    const std::vector<double> values = predictor.predict(*input, all);
    for (size_t t = 0; t < width; ++t) {
      result.table.columns.push_back(predictor.tasks.names[t]);
      columns.emplace_back();
      for (size_t g = 0; g < all.size(); ++g) columns.back().push_back(values[g * width + t]);
    }
  }
  for (size_t g = 0; g < all.size(); ++g) {
    for (const std::vector<double>& column : columns) result.values.push_back(column[g]);
  }
  return result;
}

Predictions predict(std::vector<Predictor>& predictors, const Graph& graph, Kernels kernels, const Common& common) {
  Predictor& predictor = predictors.front();
  const Settings& settings = predictor.model->settings();
  check_features(*predictor.model, graph);
  const GraphInput input = make_input(graph, settings, input_options(common, kernels, graph, settings));
  Predictions result;
  result.values = predictor.predict(input);
  PredictionTable& table = result.table;
  table.row_name = "node";
  table.rows = graph.node_names();
  table.label_name = "class";
  const std::vector<std::string>& classes = predictor.tasks.names;
  for (auto row = result.values.begin(); row != result.values.end(); row += static_cast<int64_t>(classes.size()))
    table.labels.push_back(classes[std::max_element(row, row + static_cast<int64_t>(classes.size())) - row]);
  for (const std::string& name : classes) table.columns.push_back("p_" + name);
  return result;
}

Json units_json(const std::vector<Predictor>& predictors) {
  Json units = Json::object();
  for (const Predictor& predictor : predictors) {
    for (size_t t = 0; t < predictor.tasks.units.size(); ++t) {
      if (!predictor.tasks.units[t].name.empty()) units[predictor.tasks.names[t]] = predictor.tasks.units[t].name;
    }
  }
  return units;
}

}  // namespace

void add_predict(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("predict", "predictions of a fine-tuned model, one row per input row");
  auto flags = std::make_shared<Flags>();
  verb->add_option("RUN", flags->run, "run or model directory of `graphpae finetune`")->required();
  add_data_flags(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "file to write: .csv .tsv .npy")->required();
  verb->add_option("--kernels", flags->kernels, "fused or reference (plain LibTorch)")->capture_default_str();
  verb->callback([flags, &common] {
    check_prediction_path(flags->output);
    check_not_input(flags->output, flags->data);
    const Kernels kernels = parse_kernels(flags->kernels);
    std::vector<Predictor> predictors = load_predictors(flags->run);
    if (flags->data.featurizer.empty())
      flags->data.featurizer = featurizer_name(predictors.front().model->input_shape());
    const Dataset dataset = load_data(flags->data, common);
    print_notes(dataset.notes);
    if (kernels == Kernels::fused) keep_freed_memory();
    Predictions result = naming(flags->data.data, [&] {
      return std::visit([&](const auto& data) { return predict(predictors, data, kernels, common); }, dataset.content);
    });
    result.table.values = result.values;
    write_predictions(flags->output, result.table);
    const size_t width = result.table.columns.size(), rows = result.values.size() / width;
    int64_t empty = 0;
    for (size_t r = 0; r < rows; ++r) empty += std::isnan(result.values[r * width]) ? 1 : 0;
    const Json units = units_json(predictors);
    if (common.json)
      return print_json({{"rows", rows},
                         {"columns", result.table.columns},
                         {"units", units},
                         {"empty", empty},
                         {"output", flags->output}});
    fmt::print("{}: {} rows{} x {} columns\n", flags->output, rows,
               empty > 0 ? fmt::format(" ({} of them empty, not molecules)", empty) : "", width);
    for (const auto& [name, unit] : units.items()) fmt::print("  {:<12} [{}]\n", name, unit.get<std::string>());
  });
}

}  // namespace graphpae::cli
