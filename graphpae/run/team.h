// Team: the processes that train together, of which this is one; or this one alone.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "graphpae/settings/settings.h"

namespace graphpae {
class Processes;
}

namespace graphpae::run {

struct Team {
  std::shared_ptr<Processes> processes;  // null: alone

  bool leads() const;  // it writes, and speaks
  int size() const;
  std::string text_of_first(const std::string& key, const std::string& text) const;
  // Whether one of them says so.
  bool any(bool value) const;
  // Throws a usage error in all of them if one has another program or other data than rank 0.
  void check_same(const std::string& data_hash) const;
  // The settings of rank 0. Throws a usage error in all of them if one has others; `follows`: mine are only what is
  // asked of those of rank 0.
  Settings settings_of_first(const Settings& mine, const std::function<Settings(const Settings&)>& follows) const;
};

// As the environment says (distributed/processes.h). `timeout` in seconds.
Team join_team(double timeout);

}  // namespace graphpae::run
