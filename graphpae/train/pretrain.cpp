#include "graphpae/train/pretrain.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/io/sha256.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/version.h"

namespace graphpae {
namespace {

constexpr const char* kFormat = "graphpae checkpoint";
constexpr const char* kFormatVersion = "1";

enum Stream : uint64_t { kCorruption = 1, kDropout = 2 };

uint64_t seed_of(const Settings& settings, Stream stream) {
  return Rng(static_cast<uint64_t>(settings.seed), stream).bits(0);
}

double number(const torch::Tensor& scalar) {
  return scalar.defined() ? scalar.item<double>() : std::numeric_limits<double>::quiet_NaN();
}

// Epochs may be added to a finished run only if the schedule does not depend on their number.
std::string settings_key(Settings settings) {
  if (settings.schedule == Schedule::none) settings.epochs = 0;
  return to_yaml(settings);
}

std::string checksum(const std::vector<SafeTensorView>& tensors) {
  Sha256 sum;
  for (const SafeTensorView& tensor : tensors) sum.update(tensor.bytes);
  return sum.hex();
}

// The file, its checksum and version verified.
SafeTensors open_checkpoint(const std::string& path) {
  std::optional<SafeTensors> file;
  Sha256 sum;
  try {
    file.emplace(path);
    sum.update(file->data());
    if (file->metadata("format") != kFormat) throw data_error(fmt::format("{}: not a checkpoint", path));
    if (sum.hex() != file->metadata("sha256")) throw data_error(fmt::format("{}: damaged, its checksum differs", path));
  } catch (const Error& error) {
    throw DamagedCheckpoint(error.what());
  }
  if (file->metadata("version") != kFormatVersion) {
    throw data_error(fmt::format("{}: version {} of the checkpoint format, this program reads {}", path,
                                 file->metadata("version"), kFormatVersion));
  }
  return std::move(*file);
}

}  // namespace

Pretrainer::Pretrainer(GraphInput input, const InputShape& shape, const Settings& settings)
    : settings_(settings),
      input_(std::move(input)),
      model_(std::make_shared<GraphPae>(settings, shape)),
      optimiser_(
          settings.optimizer, settings.weight_decay,
          [&] {
            Optimiser::Named parameters;
            for (const auto& item : model_->named_parameters()) parameters.emplace_back(item.key(), item.value());
            return parameters;
          }(),
          input_.threads) {
  if (settings.batch_size > 0)
    throw usage_error("sampled mini-batches are not part of this version yet; batch_size=0 trains on the whole graph");
}

EpochMetrics Pretrainer::train_epoch() {
  const int64_t k = settings_.use_positions ? input_.positions.size(1) : 0;
  const uint64_t epoch = static_cast<uint64_t>(epoch_);
  const Corruption corruption =
      draw_corruption(input_.num_nodes(), k, settings_, Rng(seed_of(settings_, kCorruption), epoch));
  if (corruption.masked.empty())
    throw usage_error(fmt::format("mask_ratio {} masks none of {} nodes", settings_.mask_ratio, input_.num_nodes()));

  model_->train();
  optimiser_.clear_gradients();
  const Losses losses = model_->losses(input_, corruption, Rng(seed_of(settings_, kDropout), epoch).bits(0));
  EpochMetrics metrics{epoch_ + 1, number(losses.total), number(losses.feature), number(losses.position),
                       learning_rate(settings_, epoch_)};
  if (!std::isfinite(metrics.loss)) {
    throw numerical_error(fmt::format("the loss of epoch {} is not finite (L_feat {}, L_pos {}); a smaller lr may help",
                                      metrics.epoch, metrics.loss_feature, metrics.loss_position));
  }
  losses.total.backward();
  optimiser_.step(metrics.lr);
  ++epoch_;
  return metrics;
}

torch::Tensor Pretrainer::embed() {
  model_->eval();
  return model_->embed(input_);
}

void Pretrainer::save(const std::string& path, const std::string& data) const {
  std::vector<SafeTensorView> tensors = views_of(named_tensors(*model_), "model.");
  for (SafeTensorView& view : views_of(optimiser_.state(), "optimiser.")) tensors.push_back(std::move(view));
  write_safetensors(path,
                    {{"format", kFormat},
                     {"version", kFormatVersion},
                     {"graphpae", kVersion},
                     {"epoch", std::to_string(epoch_)},
                     {"steps", std::to_string(optimiser_.steps())},
                     {"settings", settings_key(settings_)},
                     {"data", data},
                     {"sha256", checksum(tensors)}},
                    tensors);
}

void Pretrainer::restore(const std::string& path, const std::string& data) {
  const SafeTensors file = open_checkpoint(path);
  if (file.metadata("data") != data)
    throw data_error(fmt::format("{}: belongs to other data (hash {}, now {})", path, file.metadata("data"), data));
  if (file.metadata("settings") != settings_key(settings_))
    throw usage_error(fmt::format("{}: belongs to a run with other settings", path));
  const torch::NoGradGuard no_grad;
  copy_from(file, named_tensors(*model_), "model.");
  copy_from(file, optimiser_.state(), "optimiser.");
  epoch_ = std::stoll(file.metadata("epoch"));
  optimiser_.set_steps(std::stoll(file.metadata("steps")));
}

std::shared_ptr<GraphPae> pretrain(const Graph& graph, const Settings& settings, const InputOptions& options) {
  check(settings);
  Pretrainer trainer(make_input(graph, settings, options), input_shape(graph), settings);
  while (!trainer.done()) trainer.train_epoch();
  trainer.model().eval();
  return std::static_pointer_cast<GraphPae>(trainer.model().shared_from_this());
}

void check_features(const GraphPae& model, const Graph& graph) {
  const int64_t wanted = model.input_shape().features, found = graph.features().columns();
  if (wanted != found)
    throw data_error(fmt::format("the model was trained on {} features per node, the data have {}", wanted, found));
}

torch::Tensor embed(GraphPae& model, const Graph& graph, const InputOptions& options) {
  check_features(model, graph);
  model.eval();
  return model.embed(make_input(graph, model.settings(), options));
}

}  // namespace graphpae
