#include "graphpae/reproduce/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <set>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/embedded_experiments.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

using Node = YAML::Node;
using Reader = std::function<void(const Node&)>;

// Reads a map whose keys are all known.
void read_map(const Node& node, const std::string& what, const std::vector<std::pair<std::string, Reader>>& readers) {
  if (!node.IsMap()) throw usage_error(fmt::format("{}: expected `key: value` lines", what));
  std::vector<std::string> keys;
  for (const auto& reader : readers) keys.push_back(reader.first);
  for (const auto& entry : node) {
    const std::string key = entry.first.as<std::string>();
    const auto place = std::find(keys.begin(), keys.end(), key);
    if (place == keys.end())
      throw usage_error(fmt::format("{}: unknown key '{}'{}; there are {}", what, key, did_you_mean(key, keys),
                                    fmt::join(keys, ", ")));
    try {
      readers[place - keys.begin()].second(entry.second);
    } catch (const YAML::Exception&) {
      throw usage_error(fmt::format("{}: '{}' has a value of the wrong kind", what, key));
    }
  }
}

template <class T>
Reader into(T& field) {
  return [&field](const Node& node) { field = node.as<T>(); };
}
// One text, or a list of them.
Reader into(std::vector<std::string>& field) {
  return [&field](const Node& node) {
    field.clear();
    if (node.IsScalar()) field.push_back(node.as<std::string>());
    for (size_t k = 0; node.IsSequence() && k < node.size(); ++k) field.push_back(node[k].as<std::string>());
  };
}
// Settings; {probe: {lr: 1}} is probe.lr.
void read_settings(const Node& node, const std::string& prefix, SettingList& field) {
  for (const auto& entry : node) {
    const std::string key = prefix + entry.first.as<std::string>();
    if (entry.second.IsMap())
      read_settings(entry.second, key + ".", field);
    else
      field.emplace_back(key, entry.second.as<std::string>());
  }
}
Reader into(SettingList& field) {
  return [&field](const Node& node) { read_settings(node, "", field); };
}
// {Chameleon: [80.51, 1.25], mu: 0.703}
Reader into(std::map<std::string, Published>& field) {
  return [&field](const Node& node) {
    for (const auto& entry : node) {
      Published number;
      const Node mean = entry.second.IsSequence() ? entry.second[0] : entry.second;
      number.mean = mean.as<double>();
      number.text = mean.as<std::string>();
      const size_t point = number.text.find('.');
      if (point != std::string::npos) number.decimals = static_cast<int>(number.text.size() - point - 1);
      if (entry.second.IsSequence()) {
        number.deviation = entry.second[1].as<double>();
        number.text += " ± " + entry.second[1].as<std::string>();
      }
      field[entry.first.as<std::string>()] = number;
    }
  };
}

Measurement parse_measurement(const std::string& text, const std::string& what) {
  const auto place = std::find(std::begin(kMeasurementNames), std::end(kMeasurementNames), text);
  if (place != std::end(kMeasurementNames)) return static_cast<Measurement>(place - std::begin(kMeasurementNames));
  throw usage_error(fmt::format("{}: method '{}' is not one of {}", what, text, fmt::join(kMeasurementNames, ", ")));
}

ExperimentRow parse_row(const Node& node, const std::string& what) {
  ExperimentRow row;
  read_map(node, what,
           {{"name", into(row.name)},
            {"data", into(row.data)},
            {"recipe", into(row.recipe)},
            {"set", into(row.set)},
            {"metric", into(row.metric)},
            {"targets", into(row.targets)},
            {"note", into(row.note)}});
  if (row.data.empty()) throw usage_error(fmt::format("{}: has no data", what));
  if (row.name.empty()) row.name = row.data.front();
  return row;
}

ExperimentVariant parse_variant(const Node& node, const std::string& what) {
  ExperimentVariant variant;
  std::string method = "probe";
  read_map(node, what,
           {{"name", into(variant.name)},
            {"note", into(variant.note)},
            {"method", into(method)},
            {"set", into(variant.set)},
            {"pretrain_data", into(variant.pretrain_data)},
            {"pretrain_recipe", into(variant.pretrain_recipe)},
            {"published", into(variant.published)},
            {"by_default", into(variant.by_default)},
            {"baselines", into(variant.baselines)}});
  variant.measurement = parse_measurement(method, what);
  if (variant.name.empty()) throw usage_error(fmt::format("{}: has no name", what));
  if ((variant.measurement == Measurement::transfer) == variant.pretrain_data.empty())
    throw usage_error(fmt::format("{}: pretrain_data is for method transfer, and needed there", what));
  return variant;
}

void add_sweep(Experiment& experiment, const Node& node) {
  std::vector<std::string> values;
  read_map(node, "sweep", {{"setting", into(experiment.sweep)}, {"values", into(values)}});
  for (const std::string& text : values) {
    ExperimentVariant variant;
    variant.name = fmt::format("{}={}", experiment.sweep, text);
    variant.set = {{experiment.sweep, text}};
    variant.value = Node(text).as<double>();
    experiment.variants.push_back(std::move(variant));
  }
}

template <class T>
void check_names(const std::vector<T>& items, const char* what) {
  std::set<std::string> seen;
  for (const T& item : items) {
    if (!seen.insert(item.name).second) throw usage_error(fmt::format("{} '{}' is there twice", what, item.name));
  }
}

void check_published(const Experiment& experiment) {
  std::vector<std::string> names;
  for (const ExperimentRow& row : experiment.rows) {
    if (row.targets.empty()) names.push_back(row.name);
    names.insert(names.end(), row.targets.begin(), row.targets.end());
  }
  for (const ExperimentVariant& variant : experiment.variants) {
    for (const auto& [name, number] : variant.published) {
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw usage_error(fmt::format("variant '{}': published for '{}', which is no row{}", variant.name, name,
                                      did_you_mean(name, names)));
    }
  }
}

// Keeps the items one of whose names is wanted.
template <class T, class NamesOf>
void keep(std::vector<T>& items, const std::vector<std::string>& wanted, const char* what, const NamesOf& names_of) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& one) { return lower(one) == lower(name); });
  };
  std::vector<std::string> all;
  for (const T& item : items) {
    for (const std::string& name : names_of(item)) all.push_back(name);
  }
  for (const std::string& name : wanted) {
    if (!has(all, name))
      throw usage_error(
          fmt::format("no {} '{}'{}; there are {}", what, name, did_you_mean(name, all), fmt::join(all, ", ")));
  }
  std::erase_if(items, [&](const T& item) {
    const std::vector<std::string> names = names_of(item);
    return std::none_of(names.begin(), names.end(), [&](const std::string& name) { return has(wanted, name); });
  });
}

}  // namespace

Experiment parse_experiment(const std::string& yaml, const std::string& name, const std::string& source) {
  Experiment experiment;
  experiment.name = name;
  try {
    std::string kind = "scores";
    const auto list = [](const auto& add) {
      return [add](const Node& node) {
        for (size_t k = 0; k < node.size(); ++k) add(node[k]);
      };
    };
    read_map(YAML::Load(yaml), "experiment",
             {{"title", into(experiment.title)},
              {"paper", into(experiment.paper)},
              {"kind", into(kind)},
              {"seeds", into(experiment.seeds)},
              {"rows", list([&](const Node& node) {
                 experiment.rows.push_back(parse_row(node, fmt::format("row {}", experiment.rows.size() + 1)));
               })},
              {"variants", list([&](const Node& node) {
                 experiment.variants.push_back(
                     parse_variant(node, fmt::format("variant {}", experiment.variants.size() + 1)));
               })},
              {"sweep", [&](const Node& node) { add_sweep(experiment, node); }},
              {"reference", into(experiment.reference)},
              {"notes", into(experiment.notes)}});
    if (kind != "scores" && kind != "spectrum")
      throw usage_error(fmt::format("kind '{}' is neither scores nor spectrum", kind));
    experiment.spectrum = kind == "spectrum";
    if (experiment.seeds < 1) throw usage_error("seeds: expected at least 1");
    if (experiment.title.empty()) experiment.title = name;
    if (experiment.rows.empty()) throw usage_error("there are no rows");
    for (size_t r = 0; r < experiment.rows.size() && !experiment.spectrum; ++r) {
      if (experiment.rows[r].recipe.empty()) throw usage_error(fmt::format("row {}: has no recipe", r + 1));
    }
    if (experiment.variants.empty()) {
      experiment.variants.emplace_back();
      experiment.variants.back().name = "GraphPAE";
    }
    check_names(experiment.rows, "row");
    check_names(experiment.variants, "variant");
    check_published(experiment);
    std::vector<std::string> names;
    for (const ExperimentVariant& variant : experiment.variants) names.push_back(variant.name);
    if (!experiment.reference.empty() && std::find(names.begin(), names.end(), experiment.reference) == names.end())
      throw usage_error(fmt::format("reference '{}' is no variant{}", experiment.reference,
                                    did_you_mean(experiment.reference, names)));
  } catch (const YAML::Exception& error) {
    throw usage_error(fmt::format("{}:{}: {}", source, error.mark.line + 1, error.msg));
  } catch (const Error& error) {
    throw usage_error(fmt::format("{}: {}", source, error.what()));
  }
  return experiment;
}

std::vector<Experiment> experiments() {
  const std::vector<std::string> order = {"table1",   "figure1",     "table2", "table3",       "table4",
                                          "ablation", "ablation-pe", "alpha",  "eigenvectors", "homophilic"};
  std::vector<Experiment> list;
  for (const auto& [name, yaml] : kEmbeddedExperiments)
    list.push_back(parse_experiment(std::string(yaml), std::string(name), fmt::format("experiment {}", name)));
  std::stable_sort(list.begin(), list.end(), [&](const Experiment& a, const Experiment& b) {
    return std::find(order.begin(), order.end(), a.name) < std::find(order.begin(), order.end(), b.name);
  });
  return list;
}

Experiment find_experiment(const std::string& name) {
  if (name.ends_with(".yaml") || name.ends_with(".yml")) {
    const size_t slash = name.find_last_of('/'), begin = slash == std::string::npos ? 0 : slash + 1;
    return parse_experiment(read_file(name, 1 << 20), name.substr(begin, name.find_last_of('.') - begin), name);
  }
  std::vector<std::string> names;
  for (Experiment& experiment : experiments()) {
    if (experiment.name == name) return experiment;
    names.push_back(experiment.name);
  }
  names.emplace_back("tune");
  throw usage_error(
      fmt::format("unknown experiment '{}'{}; there are {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

void keep_rows(Experiment& experiment, const std::vector<std::string>& names) {
  if (names.empty()) return;
  keep(experiment.rows, names, "data set", [](const ExperimentRow& row) {
    std::vector<std::string> all = row.data;
    if (std::find(all.begin(), all.end(), row.name) == all.end()) all.push_back(row.name);
    return all;
  });
}

void keep_variants(Experiment& experiment, const std::vector<std::string>& names) {
  if (names.empty()) {
    std::erase_if(experiment.variants, [](const ExperimentVariant& variant) { return !variant.by_default; });
    return;
  }
  keep(experiment.variants, names, "variant",
       [](const ExperimentVariant& variant) { return std::vector<std::string>{variant.name}; });
}

}  // namespace graphpae
