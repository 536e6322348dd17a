#include "graphpae/cli/run_flags.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>

#include "graphpae/cli/progress.h"
#include "graphpae/core/error.h"
#include "graphpae/core/options_yaml.h"
#include "graphpae/train/recipes.h"

namespace graphpae::cli {
namespace {

template <class S>
std::optional<SettingDifference> difference_of(S first, S second) {
  OptionTable a, b;
  declare(a, first);
  declare(b, second);
  for (size_t k = 0; k < a.options().size(); ++k) {
    const std::string one = a.options()[k].print(), other = b.options()[k].print();
    if (one != other) return SettingDifference{a.options()[k].key, one, other};
  }
  return std::nullopt;
}

}  // namespace

std::optional<SettingDifference> setting_difference(Settings first, Settings second) {
  return difference_of(std::move(first), std::move(second));
}

std::optional<SettingDifference> setting_difference(FinetuneSettings first, FinetuneSettings second) {
  return difference_of(std::move(first), std::move(second));
}

Settings base_settings(const ModelFlags& flags, bool is_graph, std::vector<std::string>& notes) {
  if (is_graph || !flags.recipe.empty()) return {};
  notes.push_back("molecules without --recipe: what is not set comes from recipe molecules");
  return recipe_settings("molecules");
}

namespace {

InputOptions options_with_bar(const Common& common, Kernels kernels, const std::string& unit, int64_t total) {
  InputOptions options;
  options.threads = common.thread_count();
  options.kernels = kernels;
  if (const char* cache = std::getenv("GRAPHPAE_CACHE"); cache != nullptr) options.cache = cache;
  const auto bar = std::make_shared<Progress>(common, unit, total);
  options.progress = [bar, total](const PositionProgress& p) {
    bar->update(std::min(p.converged, total));
    return true;
  };
  options.note = [](const std::string& note) { spdlog::info("note: {}", note); };
  return options;
}

}  // namespace

InputOptions input_options(const Common& common, Kernels kernels, int64_t eigenvectors) {
  return options_with_bar(common, kernels, "eigenpairs", eigenvectors);
}

InputOptions input_options(const Common& common, Kernels kernels, const Graph&, const Settings& settings) {
  return options_with_bar(common, kernels, "eigenpairs", settings.eigenvectors);
}

InputOptions input_options(const Common& common, Kernels kernels, const GraphSet& molecules, const Settings&) {
  return options_with_bar(common, kernels, "molecules", molecules.num_graphs());
}

InputOptions input_options(const Common& common, Kernels kernels, const ShardSet& shards, const Settings&) {
  return options_with_bar(common, kernels, "molecules", shards.manifest().molecules());
}

Kernels parse_kernels(const std::string& text) {
  return choose<Kernels>("--kernels", text, {{"fused", Kernels::fused}, {"reference", Kernels::reference}});
}

std::string featurizer_name(const InputShape& shape) {
  if (shape.atom_codes.empty()) return "";
  const bool ogb = shape.atom_codes.size() == code_sizes(Featurizer::ogb).atoms.size();
  return name_of(ogb ? Featurizer::ogb : Featurizer::transfer);
}

}  // namespace graphpae::cli
