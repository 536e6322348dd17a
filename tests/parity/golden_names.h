// The parameter names of the released implementation and ours.
#pragma once

#include <optional>
#include <string>

namespace graphpae::parity {

struct OurName {
  std::string name;         // empty: not a parameter of our model, it takes no part in the computation
  bool transposed = false;  // stored [out,in] there, [in,out] here
};

// Nothing for a name of another form. `layers` is the number of encoder layers.
std::optional<OurName> our_name(const std::string& theirs, int64_t layers);

}  // namespace graphpae::parity
