// Model: an encoder with the settings and the input shape it was made for. It is what is saved, loaded, embedded and
// fine-tuned; how it learnt is over (methods/method.h).
#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <string>

#include "graphpae/model/encoder.h"

namespace graphpae {

class Model : public torch::nn::Module {
 public:
  // Parameters are drawn from settings.seed: a model that has learnt nothing. Throws a usage error for settings that
  // contradict each other.
  Model(const Settings& settings, const InputShape& shape);
  // The encoder that a method has trained.
  Model(const Settings& settings, const InputShape& shape, std::shared_ptr<Encoder> trained);

  // Frozen node representations [N,d_h] of the clean graph.
  torch::Tensor embed(const GraphInput& input);
  // One pass over the clean graph, for fine-tuning. `wanted`: these nodes are enough (Encoding::only_wanted).
  Encoding encode(const GraphInput& input, bool training, uint64_t dropout_key,
                  const std::vector<int32_t>* wanted = nullptr);

  const Settings& settings() const { return settings_; }
  const InputShape& input_shape() const { return shape_; }

  std::shared_ptr<Encoder> encoder;

 private:
  Settings settings_;
  InputShape shape_;
};

// A model on disk is a directory with config.json (settings and input shape), model.safetensors and README.md, a model
// card for people.
// Each file is written completely or not at all. `card` is added to the model card: where the model comes from,
// results.
void save_model(const std::string& directory, const Model& model, const std::string& card = "");

// `path` is a model directory or a run directory that holds one in model/. Throws a data error naming what is missing
// or does not fit.
std::shared_ptr<Model> load_model(const std::string& path);

}  // namespace graphpae
