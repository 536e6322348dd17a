// What verbs that train or use a model share.
#pragma once

#include <optional>
#include <string>

#include "graphpae/cli/command.h"
#include "graphpae/cli/model_flags.h"
#include "graphpae/data/molecule_shards.h"
#include "graphpae/train/inputs.h"

namespace graphpae::cli {

// The base for training on one graph or on molecules: those without a recipe start from recipe `molecules`, which
// `notes` says.
Settings base_settings(const ModelFlags& flags, bool is_graph, std::vector<std::string>& notes);

// The first setting in which two differ, with its values as text.
struct SettingDifference {
  std::string key, first, second;
};
std::optional<SettingDifference> setting_difference(Settings first, Settings second);
std::optional<SettingDifference> setting_difference(FinetuneSettings first, FinetuneSettings second);

// Input options with a progress bar for positions, notes as messages and $GRAPHPAE_CACHE. The bar lives in the options.
InputOptions input_options(const Common& common, Kernels kernels, int64_t eigenvectors);
InputOptions input_options(const Common& common, Kernels kernels, const Graph& graph, const Settings& settings);
InputOptions input_options(const Common& common, Kernels kernels, const GraphSet& molecules, const Settings& settings);
InputOptions input_options(const Common& common, Kernels kernels, const ShardSet& shards, const Settings& settings);

Kernels parse_kernels(const std::string& text);

// The featurizer that makes codes of such a shape: "ogb", "transfer"; "" for one graph.
std::string featurizer_name(const InputShape& shape);

}  // namespace graphpae::cli
