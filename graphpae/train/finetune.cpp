#include "graphpae/train/finetune.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/data/molecule_shards.h"
#include "graphpae/io/sha256.h"
#include "graphpae/model/embed.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/streams.h"
#include "graphpae/train/molecule_objective.h"
#include "graphpae/train/node_objective.h"

namespace graphpae {
namespace {

void copy_weights(const Model& from, Model& into) {
  const torch::NoGradGuard no_grad;
  const NamedTensors sources = named_tensors(from), targets = named_tensors(into);
  for (const auto& [name, target] : targets) {
    const auto source =
        std::find_if(sources.begin(), sources.end(), [&, key = name](const auto& pair) { return pair.first == key; });
    if (source == sources.end() || source->second.sizes() != target.sizes())
      throw data_error(fmt::format("the pre-trained model has another architecture: tensor '{}' differs", name));
    target.copy_(source->second);
  }
}

std::string hash_of(const NamedTensors& tensors) {
  Sha256 sum;
  for (const SafeTensorView& view : views_of(tensors)) sum.update(view.bytes);
  return sum.hex();
}

bool is_frozen(const torch::Tensor& parameter, const Encoder& encoder, Freeze freeze) {
  const auto& inputs = encoder.input_parameters;
  const auto same = [&](const torch::Tensor& input) { return input.is_same(parameter); };
  return freeze == Freeze::encoder || (freeze == Freeze::embeddings && std::any_of(inputs.begin(), inputs.end(), same));
}

}  // namespace

Finetuner::Finetuner(std::shared_ptr<Objective> objective, const Settings& settings, const FinetuneSettings& finetune,
                     const Model* pretrained)
    : Resumable(settings), objective_(std::move(objective)), encoder_settings_(settings), finetune_(finetune) {
  check(finetune);
  sums_.terms = {0};
  if (finetune.encoder_lr > 0) encoder_settings_.lr = finetune.encoder_lr;
  const auto model = std::make_shared<Model>(settings, objective_->shape());
  if (pretrained != nullptr) copy_weights(*pretrained, *model);
  model->eval();
  predictor_ = std::make_unique<Predictor>(model, objective_->tasks(), stream_of(settings, Stream::head, 0).bits(0));
  objective_->set_scale(*predictor_);
  start_ = hash_of(predictor_->learned());

  NamedTensors encoder;
  for (auto& [name, parameter] : named_parameters(*model->encoder)) {
    if (is_frozen(parameter, *model->encoder, finetune.freeze)) {
      parameter.requires_grad_(false);
    } else {
      encoder.emplace_back("encoder." + name, parameter);
    }
  }
  const auto make = [&](const NamedTensors& parameters) {
    return std::make_unique<Optimiser>(settings.optimizer, settings.weight_decay, parameters, objective_->threads());
  };
  encoder_optimiser_ = make(encoder);
  head_optimiser_ = make(named_parameters(*predictor_->head, "head."));
  if (finetune.freeze == Freeze::encoder) objective_->keep_rows(*predictor_);
  keep_as_best();
}

std::optional<EpochMetrics> Finetuner::train_step() {
  const Stopwatch watch;
  const int64_t number = epoch_ * steps_per_epoch() + step_;
  encoder_optimiser_->clear_gradients();
  head_optimiser_->clear_gradients();
  const StepLoss loss =
      objective_->step(*predictor_, epoch_, step_, stream_of(settings_, Stream::dropout, number).bits(0));
  if (loss.value.gradient.defined()) {
    if (!std::isfinite(loss.value.loss))
      throw numerical_error(
          fmt::format("the loss of epoch {}, step {}, is not finite; a smaller lr may help", epoch_ + 1, step_ + 1));
    loss.outputs.backward(loss.value.gradient);
    encoder_optimiser_->step(learning_rate(encoder_settings_, epoch_));
    head_optimiser_->step(learning_rate(settings_, epoch_));
    ++sums_.steps;
    sums_.terms[0] += loss.value.loss;
  }
  const bool last = step_ + 1 == steps_per_epoch();
  const double validation = last ? objective_->validate(*predictor_) : 0;
  sums_.seconds += watch.seconds();
  ++step_;
  if (!last) return std::nullopt;
  EpochMetrics metrics = end_epoch({"loss"});
  metrics.terms.emplace_back("validation", validation);
  const bool better = objective_->larger_is_better() ? validation > best_score_ : validation < best_score_;
  if (best_epoch_ == 0 || better) {
    best_score_ = validation;
    best_epoch_ = epoch_;
    keep_as_best();
  }
  return metrics;
}

bool Finetuner::stopped_early() const {
  return finetune_.patience > 0 && step_ == 0 && best_epoch_ > 0 && epoch_ - best_epoch_ >= finetune_.patience;
}

int64_t Finetuner::reported_epoch() const { return finetune_.protocol == Protocol::paper ? epoch_ : best_epoch_; }

void Finetuner::keep_as_best() {
  best_ = predictor_->learned();
  for (auto& [name, tensor] : best_) tensor = tensor.detach().clone();
}

NamedTensors Finetuner::state() const {
  NamedTensors tensors;
  append(tensors, predictor_->learned(), "model.");
  append(tensors, best_, "best.");
  append(tensors, encoder_optimiser_->state(), "optimiser.");
  append(tensors, head_optimiser_->state(), "optimiser.");
  return tensors;
}

void Finetuner::finish() {
  if (finetune_.protocol == Protocol::paper) return;
  const torch::NoGradGuard no_grad;
  const NamedTensors tensors = predictor_->learned();
  for (size_t k = 0; k < tensors.size(); ++k) tensors[k].second.copy_(best_[k].second);
}

void Finetuner::save(const std::string& path, const std::string& data) const {
  auto texts = progress_texts(data);
  texts["steps"] = std::to_string(head_optimiser_->steps());
  texts["best"] = fmt::format("{} {}", best_epoch_, best_score_);
  texts["settings"] = to_yaml(settings_, finetune_);
  texts["objective"] = objective_->key();
  texts["start"] = start_;
  write_checkpoint(path, std::move(texts), views_of(state()));
}

void Finetuner::restore(const std::string& path, const std::string& data) {
  const SafeTensors file = open_checkpoint(path, data);
  if (file.metadata("objective") != objective_->key())
    throw usage_error(fmt::format("{}: belongs to {}, now {}", path, file.metadata("objective"), objective_->key()));
  // It may be of a version with fewer settings.
  const AllSettings stored = all_settings_from_yaml(file.metadata("settings"), path);
  if (!extends(settings_, stored.model, epochs_begun(file)) ||
      to_yaml(settings_, stored.finetune) != to_yaml(settings_, finetune_))
    throw usage_error(fmt::format("{}: belongs to a run with other settings", path));
  if (file.metadata("start") != start_)
    throw usage_error(fmt::format("{}: belongs to a run that started from other weights, such as another RUN", path));
  const torch::NoGradGuard no_grad;
  copy_from(file, state());
  take_progress(file);
  for (Optimiser* optimiser : {encoder_optimiser_.get(), head_optimiser_.get()})
    optimiser->set_steps(std::stoll(file.metadata("steps")));
  const std::string best = file.metadata("best");
  char* rest = const_cast<char*>(best.c_str());
  best_epoch_ = std::strtoll(rest, &rest, 10);
  best_score_ = std::strtod(rest, &rest);
}

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
  const auto seen = pretrained != nullptr ? as_seen(*pretrained, graph, options.note)
                                          : as_learnt(settings, graph, options.note, options.threads);
  return train_all(
      std::make_shared<NodeObjective>(*seen, make_input(*seen, settings, options), split, 0, settings, finetune),
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
  const auto seen = as_seen(*predictor.model, graph, options.note);
  return predictor.predict(make_input(*seen, predictor.model->settings(), options));
}

std::vector<double> predict(Predictor& predictor, const GraphSet& molecules, const InputOptions& options) {
  check_features(*predictor.model, molecules);
  return predictor.predict(*prepare(molecules, predictor.model->settings(), options),
                           row_range(0, molecules.num_graphs()));
}

}  // namespace graphpae
