#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/model/model.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/settings/feature_plan.h"
#include "graphpae/version.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;

Json settings_json(Settings settings) {
  OptionTable table;
  declare(table, settings);
  Json json;
  for (const Option& option : table.options()) json[option.key] = option.print();
  return json;
}

Settings settings_from_json(const Json& json, const std::string& source) {
  Settings settings;
  OptionTable table;
  declare(table, settings);
  return naming(source, [&] {
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string()) throw data_error(fmt::format("setting '{}' is not text", key));
      table.set(key, value.get<std::string>());
    }
    return settings;
  });
}

std::vector<std::string> names_from_json(const Json& json, const std::string& source) {
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), [](const Json& name) { return name.is_string(); }))
    throw data_error(fmt::format("{}: feature_names is not a list of texts", source));
  return json.get<std::vector<std::string>>();
}

std::string model_card(const Model& model, const std::string& card) {
  int64_t parameters = 0;
  for (const auto& parameter : model.parameters()) parameters += parameter.numel();
  std::string text = fmt::format(
      "# An encoder learnt without labels\n\nMethod {}, graphpae {}: {} parameters in `model.safetensors`, settings "
      "and "
      "input shape in `config.json`.\n\n"
      "    graphpae embed THIS_DIRECTORY DATA -o embeddings.npy\n\n",
      model.settings().method, kVersion, parameters);
  if (!card.empty()) text += card + "\n";
  return text + "## Settings\n\n```yaml\n" + to_yaml(model.settings()) + "```\n";
}

}  // namespace

void save_model(const std::string& directory, const Model& model, const std::string& card) {
  std::error_code reason;
  fs::create_directories(directory, reason);
  if (reason) throw data_error(fmt::format("{}: {}", directory, reason.message()));
  const InputShape& shape = model.input_shape();
  Json config = {{"format", "graphpae model"},     {"version", kFormatVersion},
                 {"graphpae", kVersion},           {"method", model.settings().method},
                 {"features", shape.features},     {"atom_codes", shape.atom_codes},
                 {"bond_codes", shape.bond_codes}, {"settings", settings_json(model.settings())}};
  if (!shape.feature_names.empty()) config["feature_names"] = shape.feature_names;
  if (shape.plan) config["inputs"] = to_json(*shape.plan);
  write_safetensors(directory + "/model.safetensors", {{"format", "pt"}}, views_of(named_tensors(model)));
  write_file(directory + "/config.json", config.dump(2) + "\n");
  write_file(directory + "/README.md", model_card(model, card));
}

std::shared_ptr<Model> load_model(const std::string& path) {
  const std::string directory = fs::exists(path + "/model/config.json") ? path + "/model" : path;
  const std::string config_path = directory + "/config.json";
  if (!fs::exists(config_path)) {
    if (fs::exists(path + "/model/parts.json"))
      throw data_error(
          fmt::format("{}: holds several models; name one of those below {}/splits or {}/targets", path, path, path));
    throw data_error(fs::exists(path + "/config.yaml")
                         ? fmt::format("{}: this run has no model yet; finish it with --resume", path)
                         : fmt::format("{}: neither a run directory nor a model directory", path));
  }
  const Json config = Json::parse(read_file(config_path, 1 << 24), nullptr, false);
  const auto counts = [](const Json& list) {
    return list.is_array() && std::all_of(list.begin(), list.end(), [](const Json& v) {
             return v.is_number_unsigned() && v.get<uint64_t>() <= 1'000'000'000;
           });
  };
  if (!config.is_object() || !config.contains("format") || config["format"] != "graphpae model" ||
      !config.contains("settings") || !config["settings"].is_object() || !config.contains("features") ||
      !counts(Json::array({config["features"]})) || !counts(config.value("atom_codes", Json())) ||
      !counts(config.value("bond_codes", Json()))) {
    throw data_error(fmt::format("{}: not the configuration of a graphpae model", config_path));
  }
  if (!config.contains("version") || config["version"] != kFormatVersion) {
    throw data_error(fmt::format("{}: version {} of the format, this program reads {}", config_path,
                                 config.contains("version") ? config["version"].dump() : "?", kFormatVersion));
  }
  Settings settings = settings_from_json(config["settings"], config_path);
  if (!config["settings"].contains("weights")) settings.weights = WeightUse::ignore;  // as version 0.1 did
  InputShape shape{config["features"], config["atom_codes"], config["bond_codes"]};
  if (config.contains("feature_names")) shape.feature_names = names_from_json(config["feature_names"], config_path);
  if (config.contains("inputs")) {
    FeaturePlan plan = naming(config_path, [&] { return feature_plan_from(config["inputs"]); });
    plan.names = shape.feature_names;
    shape.plan = std::make_shared<const FeaturePlan>(std::move(plan));
  }
  auto model = std::make_shared<Model>(settings, shape);
  copy_from(SafeTensors(directory + "/model.safetensors"), named_tensors(*model));
  model->eval();
  return model;
}

}  // namespace graphpae
