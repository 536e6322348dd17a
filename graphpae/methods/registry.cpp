#include "graphpae/methods/registry.h"

#include "graphpae/core/error.h"
#include "graphpae/methods/graph_pae/graph_pae.h"
#include "graphpae/methods/graphmae/graphmae.h"

namespace graphpae {
namespace {

using Maker = std::shared_ptr<Method> (*)(const Settings&, const InputShape&);

template <class M>
std::shared_ptr<Method> make(const Settings& settings, const InputShape& shape) {
  return std::make_shared<M>(settings, shape);
}

// One line per method.
const std::pair<const char*, Maker> kMethods[] = {
    {"graphpae", make<GraphPae>},
    {"graphmae", make<GraphMae>},
};

}  // namespace

std::shared_ptr<Method> make_method(const Settings& settings, const InputShape& shape) {
  for (const auto& [name, maker] : kMethods) {
    if (settings.method == name) return maker(settings, shape);
  }
  throw Error(ErrorKind::internal, "method '" + settings.method + "' has no maker");
}

}  // namespace graphpae
