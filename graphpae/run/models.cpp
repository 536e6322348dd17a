#include "graphpae/run/models.h"

#include <algorithm>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/model/inputs.h"
#include "graphpae/model/model.h"

namespace graphpae::run {
namespace {

int64_t count_of(const Graph&, const Settings& settings) { return settings.eigenvectors; }
int64_t count_of(const GraphSet& molecules, const Settings&) { return molecules.num_graphs(); }
int64_t count_of(const ShardSet& shards, const Settings&) { return shards.manifest().molecules(); }

}  // namespace

std::shared_ptr<Model> load_model(const std::string& path) { return graphpae::load_model(path); }

const Settings& settings_of(const Model& model) { return model.settings(); }

std::string featurizer_of(const Model& model) { return featurizer_of(model.input_shape()); }

std::string featurizer_of(const InputShape& shape) {
  if (shape.atom_codes.empty()) return "";
  const bool ogb = shape.atom_codes.size() == code_sizes(Featurizer::ogb).atoms.size();
  return name_of(ogb ? Featurizer::ogb : Featurizer::transfer);
}

TextColumn molecule_names(const GraphSet& set) {
  const TextColumn& texts = set.parts().texts;
  for (int64_t g = 0; g < texts.size(); ++g) {
    if (texts[g].find('\n') != std::string_view::npos) return {};
  }
  return texts;
}

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
