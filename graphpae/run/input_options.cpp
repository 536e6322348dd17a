#include "graphpae/run/input_options.h"

#include <algorithm>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/model/inputs.h"

namespace graphpae::run {
namespace {

int64_t count_of(const Graph&, const Settings& settings) { return settings.eigenvectors; }
int64_t count_of(const GraphSet& molecules, const Settings&) { return molecules.num_graphs(); }
int64_t count_of(const ShardSet& shards, const Settings&) { return shards.manifest().molecules(); }

}  // namespace

template <class Data>
InputOptions input_options(const Context& context, const Data& data, const Settings& settings) {
  const std::string unit = std::is_same_v<Data, Graph> ? "eigenpairs" : "molecules";
  const int64_t total = count_of(data, settings);
  InputOptions options;
  options.threads = context.threads;
  options.kernels = context.kernels;
  options.cache = context.cache;
  context.watch.report({unit, 0, total, 0, ""});
  options.progress = [watch = context.watch, unit, total](const PositionProgress& p) {
    watch.report({unit, std::min(p.converged, total), total, 0, ""});
    return true;
  };
  options.note = context.watch.note;
  return options;
}

template InputOptions input_options(const Context&, const Graph&, const Settings&);
template InputOptions input_options(const Context&, const GraphSet&, const Settings&);
template InputOptions input_options(const Context&, const ShardSet&, const Settings&);

}  // namespace graphpae::run
