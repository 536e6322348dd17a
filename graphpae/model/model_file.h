// A model on disk: a directory with config.json (settings and input shape), model.safetensors and README.md, a model
// card for people.
#pragma once

#include <memory>
#include <string>

#include "graphpae/model/model.h"

namespace graphpae {

// Each file is written completely or not at all. `card` is added to the model card: where the model comes from,
// results.
void save_model(const std::string& directory, const Model& model, const std::string& card = "");

// `path` is a model directory or a run directory that holds one in model/. Throws a data error naming what is missing
// or does not fit.
std::shared_ptr<Model> load_model(const std::string& path);

}  // namespace graphpae
