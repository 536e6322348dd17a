#include "graphpae/run/models.h"

#include "graphpae/data/molecule_shards.h"
#include "graphpae/model/model_file.h"

namespace graphpae::run {

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

}  // namespace graphpae::run
