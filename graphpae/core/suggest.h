// The closest of several names to a mistyped one, for error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace graphpae {

// "" if nothing is close enough to be meant.
std::string closest_name(std::string_view wanted, const std::vector<std::string>& names);

// " (did you mean 'x'?)" or "".
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace graphpae
