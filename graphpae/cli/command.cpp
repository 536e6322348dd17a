#include "graphpae/cli/command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "graphpae/core/error.h"
#include "graphpae/core/options_yaml.h"
#include "graphpae/io/input_file.h"

namespace graphpae::cli {

void add_data_flags(CLI::App& app, DataFlags& flags) {
  app.add_option("DATA", flags.data, "a file, a directory or the name of a known data set")->required();
  add_reading_flags(app, flags);
}

void add_reading_flags(CLI::App& app, DataFlags& flags) {
  app.add_option("--features", flags.features, "file of node features (.npz .npy .csv)");
  app.add_option("--labels", flags.labels, "file of node labels (.npy .csv)");
  app.add_option("--splits", flags.splits, "file of splits (.npz)");
  app.add_option("--ids", flags.ids, "ids of an edge list: auto, numbers or names")->capture_default_str();
  app.add_option("--self-loops", flags.self_loops, "drop, keep or refuse")->capture_default_str();
  app.add_option("--repeats", flags.repeats, "repeated edges: merge or refuse")->capture_default_str();
  app.add_option("--smiles-column", flags.smiles_column, "column of SMILES in a table (default: smiles)");
  app.add_option("--tasks", flags.tasks, "target columns of a table of molecules")->delimiter(',');
  app.add_option(
      "--featurizer", flags.featurizer,
      "codes of molecules: ogb or transfer (default: those of the recipe or the model, of graphs.npz, else ogb)");
  app.add_option("--on-invalid", flags.on_invalid,
                 "rows that are not molecules: fail, skip or nan (kept, without atoms)")
      ->capture_default_str();
  app.add_flag("--offline", flags.offline, "never touch the network");
  app.add_flag("--trust-download", flags.trust_download, "accept downloads whose checksum is not recorded");
  app.add_option("--registry", flags.registry, "another registry of known data sets (YAML)");
}

LoadOptions load_options(const DataFlags& flags, const Common& common) {
  LoadOptions options;
  options.features = flags.features;
  options.labels = flags.labels;
  options.splits = flags.splits;
  options.ids = choose<NodeIds>(
      "--ids", flags.ids, {{"auto", NodeIds::automatic}, {"numbers", NodeIds::numbers}, {"names", NodeIds::names}});
  options.edges.self_loops =
      choose<SelfLoops>("--self-loops", flags.self_loops,
                        {{"drop", SelfLoops::drop}, {"keep", SelfLoops::keep}, {"refuse", SelfLoops::refuse}});
  options.edges.repeats =
      choose<Repeats>("--repeats", flags.repeats, {{"merge", Repeats::merge}, {"refuse", Repeats::refuse}});
  options.smiles_column = flags.smiles_column;
  options.tasks = flags.tasks;
  if (!flags.featurizer.empty()) {
    options.featurizer = choose<Featurizer>("--featurizer", flags.featurizer,
                                            {{"ogb", Featurizer::ogb}, {"transfer", Featurizer::transfer}});
  }
  options.on_invalid =
      choose<OnInvalid>("--on-invalid", flags.on_invalid,
                        {{"fail", OnInvalid::fail}, {"skip", OnInvalid::skip}, {"nan", OnInvalid::nan}});
  options.as_smiles = flags.as_smiles;
  if (const char* cache = std::getenv("GRAPHPAE_CACHE"); cache != nullptr && flags.use_cache)
    options.molecule_cache = cache;
  options.threads = common.thread_count();
  return options;
}

Dataset load_data(const DataFlags& flags, const Common& common) {
  FetchOptions fetch = default_fetch_options();
  fetch.offline = flags.offline;
  fetch.trust = flags.trust_download;
  fetch.progress = [last = int64_t{-1}](const std::string& file, int64_t done, int64_t total) mutable {
    const int64_t percent = done * 100 / std::max<int64_t>(total, 1);
    if (percent / 10 != last / 10)
      spdlog::info("{}: {}% of {:.1f} MB", file, percent, static_cast<double>(total) / 1e6);
    last = percent;
  };
  return load_path_or_name(
      flags.data, load_options(flags, common), fetch,
      flags.registry.empty() ? known_data() : parse_known_data(read_file(flags.registry, 1 << 24)));
}

void add_option_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags, const std::string& prefix) {
  for (const Option& option : table.options()) {
    const std::string name = option.key.substr(option.key.starts_with(prefix) ? prefix.size() : 0);
    std::string flag = (name.size() == 1 ? "-" : "--") + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const std::string help =
        fmt::format("{} ({}{}; default {})", option.help, option.type, option.range.empty() ? "" : ", " + option.range,
                    option.default_value.empty() ? "none" : option.default_value);
    app.add_option_function<std::string>(
           flag, [&flags, key = option.key](const std::string& text) { flags.flags.emplace_back(key, text); }, help)
        ->type_name("");
  }
}

void add_setting_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags) {
  add_option_flags(app, table, flags, "");
  app.add_option("--set", flags.set, "key=value, repeatable")->take_all()->allow_extra_args(false);
  app.add_option("--config", flags.config, "YAML file of settings");
}

void apply_settings(OptionTable& table, const SettingFlags& flags) {
  if (!flags.config.empty()) set_from_yaml(table, read_file(flags.config, 1 << 20), flags.config);
  for (const std::string& assignment : flags.set) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos) throw usage_error(fmt::format("--set {}: expected key=value", assignment));
    table.set(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  for (const auto& [key, value] : flags.flags) table.set(key, value);
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) || std::string_view("_-./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    std::string quoted = word;
    for (size_t at = 0; !plain && (at = quoted.find('\'', at)) != std::string::npos; at += 4)
      quoted.replace(at, 1, "'\\''");
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return text;
}

void print_json(const Json& json) { fmt::print("{}\n", json.dump(2)); }

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) spdlog::info("note: {}", note);
}

}  // namespace graphpae::cli
