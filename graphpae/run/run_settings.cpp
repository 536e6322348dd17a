#include "graphpae/run/run_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "graphpae/core/error.h"

namespace graphpae::run {
namespace {

constexpr std::array kTrainingSettings = {"dropout", "edge_dropout", "pooling",  "epochs", "batch_size", "optimizer",
                                          "lr",      "weight_decay", "schedule", "warmup", "seed"};

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

void refuse(const std::string& run, const std::optional<SettingDifference>& difference) {
  if (difference)
    throw usage_error(fmt::format("{}: the run has {}={}, the command line says {}", run, difference->key,
                                  difference->first, difference->second));
}

}  // namespace

std::optional<SettingDifference> setting_difference(Settings first, Settings second) {
  return difference_of(std::move(first), std::move(second));
}

std::optional<SettingDifference> setting_difference(FinetuneSettings first, FinetuneSettings second) {
  return difference_of(std::move(first), std::move(second));
}

void check_repeats(const std::string& run, const Settings& has, const Settings& asked) {
  refuse(run, setting_difference(has, asked));
}

void check_repeats(const std::string& run, const FinetuneSettings& has, const FinetuneSettings& asked) {
  refuse(run, setting_difference(has, asked));
}

Settings finetune_settings(const Settings& model, const Settings& training) {
  Settings result = model, given = training;
  OptionTable into, from;
  declare(into, result);
  declare(from, given);
  for (const Option& option : from.options()) {
    const auto* end = kTrainingSettings.end();
    if (std::find(kTrainingSettings.begin(), end, option.key) != end) into.set(option.key, option.print());
  }
  return result;
}

std::string reading_yaml(const std::string& featurizer) {
  return featurizer.empty() ? "" : fmt::format("featurizer: {}\n", featurizer);
}

}  // namespace graphpae::run
