#include "graphpae/run/team.h"

#include <fmt/format.h>

#include <cstdlib>

#include "graphpae/core/machine.h"
#include "graphpae/distributed/processes.h"
#include "graphpae/run/run_directory.h"
#include "graphpae/version.h"

namespace graphpae::run {

Team join_team(double timeout) {
  const auto place = process_place([](const char* name) { return std::getenv(name); });
  if (!place || place->size == 1) return {};
  return {std::make_shared<Processes>(*place, timeout)};
}

bool Team::leads() const { return processes == nullptr || processes->rank() == 0; }

int Team::size() const { return processes == nullptr ? 1 : processes->size(); }

std::string Team::text_of_first(const std::string& key, const std::string& text) const {
  return processes == nullptr ? text : processes->text_of_first(key, text);
}

bool Team::any(bool value) const {
  if (processes == nullptr) return value;
  double sum = value ? 1 : 0;
  processes->sum({&sum, 1});
  return sum > 0;
}

void Team::check_same(const std::string& data_hash) const {
  if (processes == nullptr) return;
  const auto check = [&](const char* what, const std::string& mine) {
    const std::string first = text_of_first(what, mine);
    processes->agree(what, first == mine ? "" : fmt::format("another {} than rank 0: {}, there {}", what, mine, first));
  };
  check("version", fmt::format("{} ({})", kVersion, build_commit()));
  check("data hash", data_hash);
}

Settings Team::settings_of_first(const Settings& mine, const std::function<Settings(const Settings&)>& follows) const {
  if (processes == nullptr) return mine;
  const Settings first = settings_from_yaml(text_of_first("settings", to_yaml(mine)), "settings of rank 0");
  const auto difference = setting_difference(first, follows && !leads() ? follows(first) : mine);
  processes->agree(
      "settings",
      difference ? fmt::format("{}={}, rank 0 has {}", difference->key, difference->second, difference->first) : "");
  return first;
}

}  // namespace graphpae::run
