#include "graphpae/train/pretrain.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

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
                       Threads threads, ProcessesPtr processes)
    : settings_(settings),
      processes_(std::move(processes)),
      batches_(std::move(batches)),
      model_(std::make_shared<GraphPae>(settings, shape)),
      optimiser_(
          settings.optimizer, settings.weight_decay,
          [&] {
            Optimiser::Named parameters;
            for (const auto& item : model_->named_parameters()) parameters.emplace_back(item.key(), item.value());
            return parameters;
          }(),
          threads) {
  if (processes_ == nullptr) return;
  std::vector<torch::Tensor> parameters;
  for (const auto& item : model_->named_parameters()) {
    if (item.key().starts_with("feature_decoder.")) decoder_parameters_.push_back(parameters.size());
    parameters.push_back(item.value());
  }
  buckets_ = std::make_unique<GradientBuckets>(std::move(parameters), processes_);
}

Pretrainer::Pretrainer(GraphInput input, const InputShape& shape, const Settings& settings)
    : Pretrainer(std::make_unique<WholeGraph>(input), shape, settings, input.threads) {
  if (settings.batch_size > 0) throw usage_error("one whole graph in a step needs batch_size=0");
}

Pretrainer::Pretrainer(const PreparedGraph& graph, const InputShape& shape, const Settings& settings,
                       ProcessesPtr processes)
    : Pretrainer(
          [&]() -> std::unique_ptr<BatchSource> {
            if (settings.batch_size > 0) return std::make_unique<SampledBatches>(graph, settings, processes);
            if (processes != nullptr)
              throw usage_error("several processes divide batches: a whole graph in a step needs batch_size");
            return std::make_unique<WholeGraph>(whole_input(graph));
          }(),
          shape, settings, graph.threads, processes) {}

Pretrainer::Pretrainer(std::shared_ptr<const MoleculeInputs> molecules, const InputShape& shape,
                       const Settings& settings, ProcessesPtr processes)
    : Pretrainer(std::make_unique<MoleculeBatches>(molecules, settings, processes), shape, settings,
                 molecules->threads(), processes) {}

Pretrainer::Pretrainer(const ShardInput& shards, const InputShape& shape, const Settings& settings,
                       ProcessesPtr processes)
    : Pretrainer(std::make_unique<ShardedMolecules>(shards, settings, processes), shape, settings, shards.threads,
                 processes) {}

Pretrainer::DrawnCorruption Pretrainer::draw(const GraphInput& input, int64_t number) {
  const int64_t k = settings_.use_positions ? input.positions.size(1) : 0, count = input.num_seeds();
  int64_t first = 0, all = count;
  if (input.exchange != nullptr) {
    std::vector<double> counts(static_cast<size_t>(processes_->size()));
    const auto mine = counts.begin() + processes_->rank();
    *mine = static_cast<double>(count);
    processes_->sum(counts);
    first = std::accumulate(counts.begin(), mine, int64_t{0});
    all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  }
  Corruption corruption = draw_corruption(all, k, settings_, stream_of(settings_, Stream::corruption, number));
  const auto masked = static_cast<int64_t>(corruption.masked.size());
  if (input.exchange != nullptr) corruption = part_of(corruption, first, count);
  return {masked, among(std::move(corruption), input.num_nodes())};
}

std::optional<EpochMetrics> Pretrainer::train_step() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const GraphInput& input = batches_->input(epoch_, step_);
  const int64_t number = epoch_ * steps_per_epoch() + step_;  // of the step, in the run
  const DrawnCorruption corruption = draw(input, number);
  if (corruption.masked > 0) learn(input, corruption, stream_of(settings_, Stream::dropout, number).bits(0));

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

// Losses and gradients of the parts are means over what they count; weighted by how much that is, they add up to those
// of the batch. A batch that is too small to be divided is learnt from by all, each for its share.
Pretrainer::StepLosses Pretrainer::learn_together(const GraphInput& input, const DrawnCorruption& corruption,
                                                  uint64_t dropout_key) {
  LearnShare share;
  if (input.exchange != nullptr) {
    const double weight = model_->position_weight(input, corruption.part);
    std::vector<double> all = {weight};
    processes_->sum(all);
    share.feature = static_cast<double>(corruption.part.masked.size()) / static_cast<double>(corruption.masked);
    share.position = all[0] > 0 ? weight / all[0] : 0;
    if (processes_->rank() > 0) dropout_key = Rng(dropout_key, static_cast<uint64_t>(processes_->rank())).bits(0);
  } else {
    share.feature = share.position = 1.0 / processes_->size();
  }
  share.before_last_pass = [&](bool decoded) {
    buckets_->begin_last_pass(decoded ? decoder_parameters_ : std::vector<size_t>());
  };
  std::vector<double> sums = {0, 0};
  // Without masked nodes there is nothing to learn, but the statistics of molecules count for the others.
  if (!corruption.part.masked.empty() || input.is_molecules()) {
    const Losses losses = model_->learn(input, corruption.part, dropout_key, &share);
    if (losses.feature.defined()) sums[0] = share.feature * number(losses.feature);
    if (losses.position.defined()) sums[1] = share.position * number(losses.position);
  }
  buckets_->finish();
  processes_->sum(sums);
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {sums[0] + settings_.alpha * sums[1], model_->feature_decoder.is_empty() ? none : sums[0],
          model_->position_decoder.is_empty() ? none : sums[1]};
}

void Pretrainer::learn(const GraphInput& input, const DrawnCorruption& corruption, uint64_t dropout_key) {
  model_->train();
  optimiser_.clear_gradients();
  StepLosses losses{};
  if (processes_ != nullptr) {
    losses = learn_together(input, corruption, dropout_key);
  } else {
    const Losses alone = model_->learn(input, corruption.part, dropout_key);
    losses = {number(alone.total), number(alone.feature), number(alone.position)};
  }
  if (!std::isfinite(losses.total)) {
    const std::string step = steps_per_epoch() > 1 ? fmt::format(", step {},", step_ + 1) : "";
    throw numerical_error(
        fmt::format("the loss of epoch {}{} is not finite (L_feat {}, L_pos {}); a smaller lr may help", epoch_ + 1,
                    step, losses.feature, losses.position));
  }
  optimiser_.step(learning_rate(settings_, epoch_));
  ++sums_.steps;
  sums_.loss += losses.total;
  sums_.loss_feature += losses.feature;
  sums_.loss_position += losses.position;
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

void Pretrainer::follow_first() {
  std::vector<torch::Tensor> tensors;
  for (const auto& [name, tensor] : named_tensors(*model_)) tensors.push_back(tensor);
  for (const auto& [name, tensor] : optimiser_.state()) tensors.push_back(tensor);
  tensors.push_back(torch::tensor(
      {static_cast<double>(epoch_), static_cast<double>(step_), static_cast<double>(optimiser_.steps()),
       static_cast<double>(sums_.steps), sums_.loss, sums_.loss_feature, sums_.loss_position, sums_.seconds},
      torch::kFloat64));
  processes_->broadcast(tensors);
  const double* numbers = tensors.back().data_ptr<double>();
  epoch_ = static_cast<int64_t>(numbers[0]);
  step_ = static_cast<int64_t>(numbers[1]);
  optimiser_.set_steps(static_cast<int64_t>(numbers[2]));
  sums_ = {static_cast<int64_t>(numbers[3]), numbers[4], numbers[5], numbers[6], numbers[7]};
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
