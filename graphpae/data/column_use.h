// How the columns of a file were understood, for people: what `graphpae info` prints.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace graphpae {

struct ColumnUse {
  std::string file;                                       // its name without directories; "": nothing to say
  std::vector<std::pair<std::string, std::string>> uses;  // role and column: ("source", "citing"), ...
};

}  // namespace graphpae
