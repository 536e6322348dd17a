// The frame of the command line: what all verbs share, and one function per verb that declares it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graphpae/core/options.h"
#include "graphpae/data/known_data.h"
#include "graphpae/data/load.h"

namespace graphpae::cli {

using Json = nlohmann::ordered_json;

// Flags that mean the same for every verb.
struct Common {
  int threads = 0;  // 0: all processors
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  std::string log_file;
  std::string command;  // not a flag: the whole command line, as a shell reads it

  Threads thread_count() const { return threads > 0 ? Threads{threads} : all_threads(); }
};

// Flags that say how DATA is read.
struct DataFlags {
  std::string data;
  std::string features, labels, splits, ids = "auto", self_loops = "drop", repeats = "merge", smiles_column, registry;
  std::vector<std::string> tasks;
  std::string featurizer, on_invalid = "skip";
  bool as_smiles = false;  // not flags: set by a verb that writes molecules as SMILES,
  bool use_cache = true;   // or that must not use $GRAPHPAE_CACHE
  bool offline = false;
  bool trust_download = false;
};
void add_data_flags(CLI::App& app, DataFlags& flags);
void add_reading_flags(CLI::App& app, DataFlags& flags);  // all but DATA itself
LoadOptions load_options(const DataFlags& flags, const Common& common);
Dataset load_data(const DataFlags& flags, const Common& common);

// --set key=value (repeatable), --config FILE and one --flag per option of a table.
struct SettingFlags {
  std::vector<std::string> set;
  std::string config;
  std::vector<std::pair<std::string, std::string>> flags;
};
void add_setting_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags);
// Only the flags of options, called without the prefix of their keys.
void add_option_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags, const std::string& prefix);
// Precedence: --flag and --set, then --config.
void apply_settings(OptionTable& table, const SettingFlags& flags);

// The value a flag names; a usage error that lists the choices if it names none.
template <class E>
E choose(const std::string& flag, const std::string& text, std::vector<std::pair<std::string, E>> choices) {
  E value = choices.front().second;
  OptionTable table;
  table.add_choice(flag, value, std::move(choices), "");
  table.set(flag, text);
  return value;
}

// Results go to stdout, everything else to stderr.
void print_json(const Json& json);
void print_notes(const std::vector<std::string>& notes);

// Words as a shell reads them back.
std::string shell_words(const std::vector<std::string>& words);

// Declares a verb; its callback runs it.
void add_demo(CLI::App& app, Common& common);
void add_generate(CLI::App& app, Common& common);
void add_info(CLI::App& app, Common& common);
void add_convert(CLI::App& app, Common& common);
void add_recipes(CLI::App& app, Common& common);
void add_positions(CLI::App& app, Common& common);
void add_spectrum(CLI::App& app, Common& common);
void add_launch(CLI::App& app, Common& common);
void add_reproduce(CLI::App& app, Common& common);
void add_pretrain(CLI::App& app, Common& common);
void add_embed(CLI::App& app, Common& common);
void add_evaluate(CLI::App& app, Common& common);
void add_finetune(CLI::App& app, Common& common);
void add_predict(CLI::App& app, Common& common);
void add_bench(CLI::App& app, Common& common);
void add_report(CLI::App& app, Common& common);

// Shared between verbs.
Json info_json(const Dataset& dataset);
std::string info_text(const Dataset& dataset, const std::string& name);

}  // namespace graphpae::cli
