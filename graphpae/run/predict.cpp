#include "graphpae/run/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/input_file.h"
#include "graphpae/model/embed.h"
#include "graphpae/model/predictor.h"
#include "graphpae/run/models.h"

namespace graphpae::run {
namespace {

// The SMILES, or row numbers if there are none (mol blocks).
PredictionTable molecule_table(const GraphSet& set) {
  PredictionTable table;
  table.ids = {set.parts().id_name, set.parts().ids};
  table.rows = molecule_names(set);
  table.row_name = table.rows.empty() ? "row" : "smiles";
  return table;
}

}  // namespace

const Model& Predictors::model() const { return *models.front()->model; }

std::string Predictors::featurizer() const { return featurizer_of(*models.front()->model); }

std::vector<std::pair<std::string, std::string>> Predictors::units() const {
  std::vector<std::pair<std::string, std::string>> units;
  for (const auto& predictor : models) {
    const PredictorTasks& tasks = predictor->tasks;
    for (size_t t = 0; t < tasks.units.size(); ++t) {
      if (!tasks.units[t].name.empty()) units.emplace_back(tasks.names[t], tasks.units[t].name);
    }
  }
  return units;
}

Predictors load_predictors(const std::string& run) {
  using Json = nlohmann::json;
  const auto load = [](const std::string& path) { return std::make_shared<Predictor>(load_predictor(path)); };
  const std::string path = run + "/model/parts.json";
  if (!std::filesystem::exists(path)) return {{load(run)}};
  const Json json = Json::parse(read_file(path, 1 << 24), nullptr, false);
  if (!json.is_object() || !json.contains("parts") || !json["parts"].is_array() || json["parts"].empty() ||
      !std::all_of(json["parts"].begin(), json["parts"].end(), [](const Json& part) { return part.is_string(); }))
    throw data_error(fmt::format("{}: not a list of parts", path));
  Predictors predictors;
  for (const Json& part : json["parts"]) {
    const std::string name = part.get<std::string>();
    if (name.starts_with("splits/"))
      throw usage_error(fmt::format("{}: holds a model for each of {} splits; name one, such as {}/{}", run,
                                    json["parts"].size(), run, name));
    predictors.models.push_back(load(run + "/" + name));
    if (predictors.models.back()->tasks.kind == OutputKind::node_classes)
      throw data_error(fmt::format("{}: part {} is about nodes", path, name));
  }
  return predictors;
}

int64_t Predictions::empty_rows() const {
  int64_t empty = 0;
  for (size_t at = 0; at < values.size(); at += table.columns.size()) empty += std::isnan(values[at]) ? 1 : 0;
  return empty;
}

void Predictions::write(const std::string& path) const {
  PredictionTable whole = table;
  whole.values = values;
  write_predictions(path, whole);
}

Predictions predict(const Predictors& predictors, const GraphSet& molecules, const Context& context) {
  for (const auto& predictor : predictors.models) check_features(*predictor->model, molecules);
  if (context.kernels == Kernels::fused) keep_freed_memory();
  const Settings& settings = predictors.models.front()->model->settings();
  const auto input = prepare(molecules, settings, input_options(context, molecules, settings));
  const std::vector<int32_t> all = row_range(0, molecules.num_graphs());
  Predictions result{molecule_table(molecules), {}};
  for (const auto& predictor : predictors.models) {
    const std::vector<std::string>& names = predictor->tasks.names;
    result.table.columns.insert(result.table.columns.end(), names.begin(), names.end());
  }
  const size_t columns = result.table.columns.size();
  result.values.resize(all.size() * columns);
  size_t first = 0;
  for (const auto& predictor : predictors.models) {
    const size_t width = predictor->tasks.names.size();
    const std::vector<double> values = predictor->predict(*input, all);
    for (size_t g = 0; g < all.size(); ++g)
      std::copy_n(values.begin() + static_cast<int64_t>(g * width), width,
                  result.values.begin() + static_cast<int64_t>(g * columns + first));
    first += width;
  }
  return result;
}

Predictions predict(const Predictors& predictors, const Graph& graph, const Context& context) {
  Predictor& predictor = *predictors.models.front();
  const Settings& settings = predictor.model->settings();
  const auto seen = as_seen(*predictor.model, graph, context.watch.note);
  if (context.kernels == Kernels::fused) keep_freed_memory();
  Predictions result;
  result.values = predictor.predict(make_input(*seen, settings, input_options(context, graph, settings)));
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

}  // namespace graphpae::run
