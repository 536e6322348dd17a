#include "graphpae/run/input_options.h"

#include <algorithm>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/model/inputs.h"

namespace graphpae::run {
namespace {

InputOptions watched_options(const Context& context, const std::string& unit, int64_t total) {
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

}  // namespace

InputOptions input_options(const Context& context, const Graph&, const Settings& settings) {
  return watched_options(context, "eigenpairs", settings.eigenvectors);
}

InputOptions input_options(const Context& context, const GraphSet& molecules, const Settings&) {
  return watched_options(context, "molecules", molecules.num_graphs());
}

InputOptions input_options(const Context& context, const ShardSet& shards, const Settings&) {
  return watched_options(context, "molecules", shards.manifest().molecules());
}

}  // namespace graphpae::run
