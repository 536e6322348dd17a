#include "graphpae/settings/method_names.h"

#include "graphpae/core/suggest.h"

namespace graphpae {

const std::vector<MethodName>& method_names() {
  static const std::vector<MethodName> all = {
      {"graphpae", "hides features and shakes positions, puts both back",
       "Liu et al., Graph Positional Autoencoders as Self-supervised Learners, KDD 2025", true, true},
      {"graphmae", "hides features, puts them back from rows of which the masked ones are zero",
       "Hou et al., GraphMAE: Self-Supervised Masked Graph Autoencoders, KDD 2022", true, true},
  };
  return all;
}

const MethodName& find_method(std::string_view name) { return find_named(method_names(), name, "method"); }

}  // namespace graphpae
