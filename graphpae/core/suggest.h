// The closest of several names to a mistyped one, for error messages.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "graphpae/core/error.h"

namespace graphpae {

// " (did you mean 'x'?)", or "" if nothing is close enough to be meant.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names);

// The one of several things with this name. Throws a usage error that suggests the nearest name; `kind` is that of the
// things, "recipe" or "method", and the plural that of the verb that lists them.
template <class T>
const T& find_named(const std::vector<T>& all, std::string_view name, std::string_view kind) {
  std::vector<std::string> names;
  for (const T& one : all) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  throw usage_error(
      fmt::format("unknown {0} '{1}'{2}; `graphpae {0}s` lists them", kind, name, did_you_mean(name, names)));
}

}  // namespace graphpae
