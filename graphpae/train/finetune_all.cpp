#include <torch/torch.h>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/model/embed.h"
#include "graphpae/train/finetune.h"
#include "graphpae/train/molecule_objective.h"
#include "graphpae/train/node_objective.h"

namespace graphpae {
namespace {

Predictor train_all(std::shared_ptr<Objective> objective, const Settings& settings, const FinetuneSettings& finetune,
                    const Model* pretrained) {
  Finetuner tuner(std::move(objective), settings, finetune, pretrained);
  while (!tuner.done()) tuner.train_step();
  tuner.finish();
  return std::move(tuner.predictor());
}

}  // namespace

Predictor finetune(const Model* pretrained, const Graph& graph, const Settings& settings,
                   const FinetuneSettings& finetune, const Split& split, const InputOptions& options) {
  if (pretrained != nullptr) check_features(*pretrained, graph);
  return train_all(
      std::make_shared<NodeObjective>(graph, make_input(graph, settings, options), split, 0, settings, finetune),
      settings, finetune, pretrained);
}

Predictor finetune(const Model* pretrained, const GraphSet& molecules, const Settings& settings,
                   const FinetuneSettings& finetune, const Split& split, const InputOptions& options) {
  if (pretrained != nullptr) check_features(*pretrained, molecules);
  const GraphSetParts& parts = molecules.parts();
  return train_all(std::make_shared<MoleculeObjective>(prepare(molecules, settings, options), parts.task_names,
                                                       std::vector<double>(parts.targets.begin(), parts.targets.end()),
                                                       split, settings, finetune, name_of(featurizer_of(molecules)),
                                                       target_units(finetune.units, parts.task_names)),
                   settings, finetune, pretrained);
}

std::vector<double> predict(Predictor& predictor, const Graph& graph, const InputOptions& options) {
  check_features(*predictor.model, graph);
  return predictor.predict(make_input(graph, predictor.model->settings(), options));
}

std::vector<double> predict(Predictor& predictor, const GraphSet& molecules, const InputOptions& options) {
  check_features(*predictor.model, molecules);
  return predictor.predict(*prepare(molecules, predictor.model->settings(), options),
                           row_range(0, molecules.num_graphs()));
}

}  // namespace graphpae
