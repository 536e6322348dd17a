// The methods of learning without labels: names, what they do, and where they come from. No LibTorch; what they compute
// is in methods/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace graphpae {

struct MethodName {
  std::string name;
  std::string title;  // what it hides and puts back, in a line
  std::string citation;
  bool graphs, molecules;  // what it learns from: nodes of one graph, molecules
};

const std::vector<MethodName>& method_names();

// Throws a usage error that suggests the nearest name.
const MethodName& find_method(std::string_view name);

}  // namespace graphpae
