#include "graphpae/train/pretrain.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "graphpae/core/error.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/train/streams.h"

namespace graphpae {
namespace {

double number(const torch::Tensor& scalar) {
  return scalar.defined() ? scalar.item<double>() : std::numeric_limits<double>::quiet_NaN();
}

// Epochs may be added to a finished run only if the schedule does not depend on their number.
std::string settings_key(Settings settings) {
  if (settings.schedule == Schedule::none) settings.epochs = 0;
  return to_yaml(settings);
}

}  // namespace

Pretrainer::Pretrainer(std::unique_ptr<BatchSource> batches, const InputShape& shape, const Settings& settings,
                       Threads threads)
    : settings_(settings),
      batches_(std::move(batches)),
      model_(std::make_shared<GraphPae>(settings, shape)),
      optimiser_(
          settings.optimizer, settings.weight_decay,
          [&] {
            Optimiser::Named parameters;
            for (const auto& item : model_->named_parameters()) parameters.emplace_back(item.key(), item.value());
            return parameters;
          }(),
          threads) {}

Pretrainer::Pretrainer(GraphInput input, const InputShape& shape, const Settings& settings)
    : Pretrainer(std::make_unique<WholeGraph>(input), shape, settings, input.threads) {
  if (settings.batch_size > 0) throw usage_error("one whole graph in a step needs batch_size=0");
}

Pretrainer::Pretrainer(const PreparedGraph& graph, const InputShape& shape, const Settings& settings)
    : Pretrainer(
          [&]() -> std::unique_ptr<BatchSource> {
            if (settings.batch_size > 0) return std::make_unique<SampledBatches>(graph, settings);
            return std::make_unique<WholeGraph>(whole_input(graph));
          }(),
          shape, settings, graph.threads) {}

Pretrainer::Pretrainer(std::shared_ptr<const MoleculeInputs> molecules, const InputShape& shape,
                       const Settings& settings)
    : Pretrainer(std::make_unique<MoleculeBatches>(molecules, settings), shape, settings, molecules->threads()) {}

Pretrainer::Pretrainer(const ShardInput& shards, const InputShape& shape, const Settings& settings)
    : Pretrainer(std::make_unique<ShardedMolecules>(shards, settings), shape, settings, shards.threads) {}

std::optional<EpochMetrics> Pretrainer::train_step() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const GraphInput& input = batches_->input(epoch_, step_);
  const int64_t k = settings_.use_positions ? input.positions.size(1) : 0;
  const int64_t number = epoch_ * steps_per_epoch() + step_;  // of the step, in the run
  const Corruption corruption =
      among(draw_corruption(input.num_seeds(), k, settings_, stream_of(settings_, Stream::corruption, number)),
            input.num_nodes());
  if (!corruption.masked.empty()) learn(input, corruption, stream_of(settings_, Stream::dropout, number).bits(0));

  const bool last = step_ + 1 == steps_per_epoch();
  if (last && sums_.steps == 0)
    throw usage_error(fmt::format("mask_ratio {} masks none of {} nodes", settings_.mask_ratio, input.num_seeds()));
  ++step_;
  sums_.seconds += std::chrono::duration<double>(Clock::now() - start).count();
  if (!last) return std::nullopt;
  const double steps = static_cast<double>(sums_.steps);
  const EpochMetrics metrics{epoch_ + 1,
                             sums_.loss / steps,
                             sums_.loss_feature / steps,
                             sums_.loss_position / steps,
                             learning_rate(settings_, epoch_),
                             sums_.seconds};
  ++epoch_;
  step_ = 0;
  sums_ = {};
  return metrics;
}

EpochMetrics Pretrainer::train_epoch() {
  while (true) {
    if (const auto metrics = train_step()) return *metrics;
  }
}

void Pretrainer::learn(const GraphInput& input, const Corruption& corruption, uint64_t dropout_key) {
  model_->train();
  optimiser_.clear_gradients();
  const Losses losses = model_->learn(input, corruption, dropout_key);
  const double loss = number(losses.total), loss_feature = number(losses.feature),
               loss_position = number(losses.position);
  if (!std::isfinite(loss)) {
    const std::string step = steps_per_epoch() > 1 ? fmt::format(", step {},", step_ + 1) : "";
    throw numerical_error(
        fmt::format("the loss of epoch {}{} is not finite (L_feat {}, L_pos {}); a smaller lr may help", epoch_ + 1,
                    step, loss_feature, loss_position));
  }
  optimiser_.step(learning_rate(settings_, epoch_));
  ++sums_.steps;
  sums_.loss += loss;
  sums_.loss_feature += loss_feature;
  sums_.loss_position += loss_position;
}

void Pretrainer::save(const std::string& path, const std::string& data) const {
  std::vector<SafeTensorView> tensors = views_of(named_tensors(*model_), "model.");
  for (SafeTensorView& view : views_of(optimiser_.state(), "optimiser.")) tensors.push_back(std::move(view));
  write_checkpoint(path,
                   {{"epoch", std::to_string(epoch_)},
                    {"step", std::to_string(step_)},
                    {"sums", fmt::format("{} {} {} {} {}", sums_.steps, sums_.loss, sums_.loss_feature,
                                         sums_.loss_position, sums_.seconds)},
                    {"steps", std::to_string(optimiser_.steps())},
                    {"settings", settings_key(settings_)},
                    {"data", data}},
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
  step_ = std::stoll(file.metadata("step"));
  const std::string sums = file.metadata("sums");
  char* rest = const_cast<char*>(sums.c_str());
  sums_.steps = std::strtoll(rest, &rest, 10);
  // Numbers were printed so that they read back to the same bits.
  for (double* sum : {&sums_.loss, &sums_.loss_feature, &sums_.loss_position, &sums_.seconds})
    *sum = std::strtod(rest, &rest);
  optimiser_.set_steps(std::stoll(file.metadata("steps")));
}

namespace {

template <class Data>
std::shared_ptr<GraphPae> pretrain_on(const Data& data, const Settings& settings, const InputOptions& options) {
  check(settings);
  Pretrainer trainer(prepare(data, settings, options), input_shape(data), settings);
  while (!trainer.done()) trainer.train_step();
  trainer.model().eval();
  return std::static_pointer_cast<GraphPae>(trainer.model().shared_from_this());
}

}  // namespace

std::shared_ptr<GraphPae> pretrain(const Graph& graph, const Settings& settings, const InputOptions& options) {
  return pretrain_on(graph, settings, options);
}

std::shared_ptr<GraphPae> pretrain(const GraphSet& molecules, const Settings& settings, const InputOptions& options) {
  return pretrain_on(molecules, settings, options);
}

}  // namespace graphpae
