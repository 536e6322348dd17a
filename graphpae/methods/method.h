// Method: what an encoder learns from without labels. It owns what only training needs (decoders, tokens, target
// networks, ...); the encoder is what is left when training is over (model/model.h).
//
//   graph_pae/graph_pae.h   START HERE: hidden features and shaken positions, both put back
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graphpae/distributed/processes.h"
#include "graphpae/model/model.h"

namespace graphpae {

// A step of training, as a method sees it.
struct LearningStep {
  int64_t number = 0;              // in the run; every random choice derives from (settings.seed, number)
  Processes* processes = nullptr;  // those that learn together; null: alone
  // Of several processes: called before the last backward pass of the step, with the parameters whose gradients are
  // complete already, and after it, before the processes exchange anything else. May be empty.
  std::function<void(const std::vector<torch::Tensor>& complete)> before_last_pass;
  std::function<void()> after_last_pass;

  // Of a batch that is divided: how many of those that all processes have are before mine, and how many there are.
  struct Place {
    int64_t first = 0, all = 0;
  };
  Place place_of(const GraphInput& input, int64_t mine) const;
  // Other processes drop other elements of a batch that is divided.
  uint64_t own_key(const GraphInput& input, uint64_t dropout_key) const;
};

class Method : public torch::nn::Module {
 public:
  // Names of the loss terms, as metrics call them; the total, "loss", is the first.
  virtual std::vector<std::string> terms() const = 0;

  // Adds the gradients of a step to those of the parameters and returns the values of the terms, those of the whole
  // batch if several processes divide it; NaN for a term that is off. Empty: the batch has nothing to learn from. If
  // the total is not finite, the caller must not use the gradients.
  virtual std::vector<double> learn(const GraphInput& input, const LearningStep& step) = 0;

  // After the optimiser's update: moving averages.
  virtual void updated(int64_t /*step*/) {}

  const Settings& settings() const { return settings_; }
  const InputShape& input_shape() const { return shape_; }
  // What was learnt. It shares the encoder.
  std::shared_ptr<Model> model() const { return std::make_shared<Model>(settings_, shape_, encoder); }

  std::shared_ptr<Encoder> encoder;

 protected:
  // Throws a usage error for settings that contradict each other.
  Method(const Settings& settings, const InputShape& shape)
      : settings_(settings), shape_(shape), init_(static_cast<uint64_t>(settings.seed)) {
    check(settings);
    encoder = register_module("encoder", make_encoder(settings, shape, init_));
  }

  Settings settings_;
  InputShape shape_;
  Initialiser init_;  // has drawn the encoder, draws the heads afterwards
};

// Scaled cosine error, Eq. (13): mean over rows of (1 - cos(target, predicted))^gamma. [M,F], [M,F] -> scalar.
// A row of zeros has cosine 0 with everything.
torch::Tensor scaled_cosine_error(const torch::Tensor& predicted, const torch::Tensor& target, double gamma);

// The method that settings.method names (settings/method_names.h), its parameters drawn from settings.seed.
std::shared_ptr<Method> make_method(const Settings& settings, const InputShape& shape);

}  // namespace graphpae
