// Flags that say which data are read, and how.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "graphpae/cli/common.h"
#include "graphpae/data/load.h"

namespace graphpae::cli {

struct DataFlags {
  std::string data;
  LoadOptions reading;  // but for what the next line names
  std::string ids = "auto", base = "auto", self_loops = "drop", repeats = "merge", featurizer, on_invalid = "skip";
  std::string registry, missing_columns = "error";
  bool offline = false, trust_download = false;
  bool use_cache = true;  // not a flag: set by a verb that must not use $GRAPHPAE_CACHE
};
void add_data_argument(CLI::App& app, DataFlags& flags);  // DATA itself
void add_reading_flags(CLI::App& app, DataFlags& flags);  // all the others
LoadOptions load_options(const DataFlags& flags, const Common& common);
Dataset load_data(const DataFlags& flags, const Common& common);

// --missing-columns, for verbs that show data to a model that was trained on others.
void add_matching_flag(CLI::App& app, DataFlags& flags);

// Throws a usage error if a file to write is one of those that are read, which it would replace.
void check_not_input(const std::string& output, const DataFlags& data);

}  // namespace graphpae::cli
