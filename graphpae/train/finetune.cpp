#include "graphpae/train/finetune.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "graphpae/core/error.h"
#include "graphpae/evaluate/metrics.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/model/pooling.h"
#include "graphpae/train/inputs.h"
#include "graphpae/train/streams.h"

namespace graphpae {
namespace {

constexpr size_t kPredictedAtOnce = 256;

constexpr std::array kTrainingSettings = {"dropout", "edge_dropout", "pooling",  "epochs", "batch_size", "optimizer",
                                          "lr",      "weight_decay", "schedule", "warmup", "seed"};

std::vector<int32_t> with_atoms(const MoleculeInputs& molecules, const std::vector<int32_t>& part) {
  std::vector<int32_t> kept;
  std::copy_if(part.begin(), part.end(), std::back_inserter(kept),
               [&](int32_t g) { return molecules.num_atoms(g) > 0; });
  return kept;
}

bool is_better(GraphMetric metric, double score, double than) {
  return metric == GraphMetric::rocauc ? score > than : score < than;
}

}  // namespace

bool is_training_setting(const std::string& key) {
  return std::find(kTrainingSettings.begin(), kTrainingSettings.end(), key) != kTrainingSettings.end();
}

Settings finetune_settings(const Settings& model, const Settings& training) {
  Settings result = model, given = training;
  OptionTable into, from;
  declare(into, result);
  declare(from, given);
  for (const Option& option : from.options()) {
    if (is_training_setting(option.key)) into.set(option.key, option.print());
  }
  return result;
}

Finetuner::Finetuner(std::shared_ptr<const MoleculeInputs> molecules, const GraphTargets& targets, const Split& split,
                     const Settings& settings, const GraphPae* pretrained)
    : molecules_(std::move(molecules)),
      targets_(targets),
      train_(with_atoms(*molecules_, split.train)),
      val_(with_atoms(*molecules_, split.val)),
      settings_(settings),
      metric_(graph_metric(targets)),
      model_(std::make_shared<GraphPae>(settings, molecules_->shape())) {
  const torch::NoGradGuard no_grad;
  if (pretrained != nullptr) {
    const NamedTensors from = named_tensors(*pretrained), into = named_tensors(*model_);
    for (size_t k = 0; k < into.size(); ++k) into[k].second.copy_(from.at(k).second);
  }
  const int64_t tasks = targets.tasks();
  Initialiser init(stream_of(settings, Stream::head, 0).bits(0));
  head_ = Linear(settings.width, tasks, init);

  // Regression: standardised by the labels of the training part.
  scale_ = torch::ones({tasks});
  shift_ = torch::zeros({tasks});
  int64_t labels = 0;
  for (int64_t t = 0; t < tasks; ++t) {
    double count = 0, sum = 0, squares = 0;
    for (const int32_t g : train_) {
      if (std::isnan(targets.at(g, t))) continue;
      ++count;
      sum += targets.at(g, t);
      squares += targets.at(g, t) * targets.at(g, t);
    }
    labels += static_cast<int64_t>(count);
    if (metric_ == GraphMetric::rocauc || count == 0) continue;
    const double mean = sum / count, deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
    shift_[t] = mean;
    if (deviation > 0) scale_[t] = deviation;
  }
  if (labels == 0) throw data_error("the training part has no labels");

  Optimiser::Named parameters;
  for (const auto& item : model_->encoder->named_parameters()) parameters.emplace_back(item.key(), item.value());
  for (const auto& item : head_->named_parameters()) parameters.emplace_back("head." + item.key(), item.value());
  optimiser_ =
      std::make_unique<Optimiser>(settings.optimizer, settings.weight_decay, parameters, molecules_->threads());
  naming("validation part", [&] { score(val_); });  // its error comes before the first epoch
  keep_as_best();
}

torch::Tensor Finetuner::outputs(const GraphInput& input, bool training, uint64_t dropout_key) {
  Encoder& encoder = *model_->encoder;
  Pass pass;
  pass.training = training;
  pass.dropout_key = dropout_key;
  pass.wants_positions = false;
  if (settings_.use_positions) pass.positions = encoder.distance->embed(input, input.distances, {}).clean;
  return head_(pool(encoder.encode(input, pass).nodes, input.graph_offsets, settings_.pooling));
}

torch::Tensor Finetuner::loss(const torch::Tensor& outputs, std::span<const int32_t> molecules) const {
  const int64_t tasks = targets_.tasks();
  const torch::Tensor labels = torch::empty(outputs.sizes(), torch::kFloat32);
  float* label = labels.data_ptr<float>();
  for (const int32_t g : molecules) {
    for (int64_t t = 0; t < tasks; ++t) *label++ = static_cast<float>(targets_.at(g, t));
  }
  const torch::Tensor present = labels.isnan().logical_not();
  const int64_t count = present.sum().item<int64_t>();
  if (count == 0) return {};
  const torch::Tensor wanted = ((labels - shift_) / scale_).masked_select(present),
                      found = outputs.masked_select(present);
  return metric_ == GraphMetric::rocauc ? torch::binary_cross_entropy_with_logits(found, wanted)
                                        : torch::mse_loss(found, wanted);
}

FinetuneEpoch Finetuner::train_epoch() {
  const auto start = std::chrono::steady_clock::now();
  std::vector<int32_t> order =
      stream_of(settings_, Stream::order, epoch_).permutation(static_cast<int32_t>(train_.size()));
  for (int32_t& place : order) place = train_[place];
  const size_t batch = settings_.batch_size == 0 ? order.size() : static_cast<size_t>(settings_.batch_size);
  const int64_t steps = static_cast<int64_t>((order.size() + batch - 1) / batch);
  FinetuneEpoch result{epoch_ + 1, 0, 0, learning_rate(settings_, epoch_), 0};
  int64_t taught = 0;
  model_->train();
  for (int64_t step = 0; step < steps; ++step) {
    const size_t first = static_cast<size_t>(step) * batch;
    const auto chosen = std::span<const int32_t>(order).subspan(first, std::min(batch, order.size() - first));
    const GraphInput input = molecules_->batch(chosen);
    optimiser_->clear_gradients();
    const torch::Tensor value =
        loss(outputs(input, true, stream_of(settings_, Stream::dropout, epoch_ * steps + step).bits(0)), chosen);
    if (!value.defined()) continue;
    const double number = value.item<double>();
    if (!std::isfinite(number))
      throw numerical_error(
          fmt::format("the loss of epoch {}, step {}, is not finite; a smaller lr may help", epoch_ + 1, step + 1));
    value.backward();
    optimiser_->step(result.lr);
    result.loss += number;
    ++taught;
  }
  if (taught > 0) result.loss /= static_cast<double>(taught);
  ++epoch_;
  result.validation = score(val_).mean;
  if (best_epoch_ == 0 || is_better(metric_, result.validation, best_score_)) {
    best_score_ = result.validation;
    best_epoch_ = epoch_;
    keep_as_best();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<double> Finetuner::predict(std::span<const int32_t> molecules) {
  const torch::NoGradGuard no_grad;
  model_->eval();
  const int64_t tasks = targets_.tasks();
  std::vector<double> predictions(molecules.size() * static_cast<size_t>(tasks),
                                  std::numeric_limits<double>::quiet_NaN());
  for (size_t first = 0; first < molecules.size(); first += kPredictedAtOnce) {
    const auto chosen = molecules.subspan(first, std::min(kPredictedAtOnce, molecules.size() - first));
    const GraphInput input = molecules_->batch(chosen);
    if (input.num_nodes() == 0) continue;
    const torch::Tensor rows = (outputs(input, false, 0) * scale_ + shift_).to(torch::kFloat64).contiguous();
    std::copy_n(rows.data_ptr<double>(), rows.numel(), predictions.begin() + static_cast<int64_t>(first) * tasks);
  }
  return predictions;
}

FinetuneScores Finetuner::score(std::span<const int32_t> molecules) {
  const std::vector<double> predictions = predict(molecules);
  const int64_t tasks = targets_.tasks();
  FinetuneScores scores;
  int64_t used = 0;
  for (int64_t t = 0; t < tasks; ++t) {
    std::vector<double> found, wanted;
    for (size_t m = 0; m < molecules.size(); ++m) {
      const double label = targets_.at(molecules[m], t),
                   prediction = predictions[m * static_cast<size_t>(tasks) + static_cast<size_t>(t)];
      if (std::isnan(label) || molecules_->num_atoms(molecules[m]) == 0) continue;
      found.push_back(prediction);
      wanted.push_back(label);
    }
    scores.tasks.push_back(metric_ == GraphMetric::rocauc ? roc_auc(found, wanted) : rmse(found, wanted));
    if (!scores.tasks.back()) continue;
    scores.mean += *scores.tasks.back();
    ++used;
  }
  if (used == 0) throw data_error("no task has labels to be scored by");
  scores.mean /= static_cast<double>(used);
  return scores;
}

std::vector<std::pair<std::string, torch::Tensor>> Finetuner::head_tensors() const {
  return {{"weight", head_->weight}, {"bias", head_->bias}, {"scale", scale_}, {"shift", shift_}};
}

std::vector<std::pair<std::string, torch::Tensor>> Finetuner::learned() const {
  NamedTensors tensors = named_tensors(*model_->encoder);
  tensors.emplace_back("head.weight", head_->weight);
  tensors.emplace_back("head.bias", head_->bias);
  return tensors;
}

void Finetuner::keep_as_best() {
  best_.clear();
  for (const auto& [name, tensor] : learned()) best_.push_back(tensor.detach().clone());
}

void Finetuner::restore_best() {
  const torch::NoGradGuard no_grad;
  const auto tensors = learned();
  for (size_t k = 0; k < tensors.size(); ++k) tensors[k].second.copy_(best_[k]);
}

}  // namespace graphpae
