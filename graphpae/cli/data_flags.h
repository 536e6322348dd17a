// Flags that say which data are read, and how.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "graphpae/cli/common.h"
#include "graphpae/data/load.h"

namespace graphpae::cli {

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

}  // namespace graphpae::cli
