#include "graphpae/train/pretrain.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/methods/method.h"
#include "graphpae/model/embed.h"

namespace graphpae {
namespace {

// A constant rate does not depend on the number of epochs, and neither do checkpoints.
std::string settings_key(Settings settings) {
  if (settings.schedule == Schedule::constant) settings.epochs = 0;
  return to_yaml(settings);
}

// The settings of a checkpoint, which may be of a version with fewer of them.
Settings stored_settings(const SafeTensors& file) { return settings_from_yaml(file.metadata("settings"), file.path()); }

}  // namespace

Pretrainer::Pretrainer(std::unique_ptr<BatchSource> batches, const InputShape& shape, const Settings& settings,
                       Threads threads, ProcessesPtr processes)
    : Resumable(settings),
      processes_(std::move(processes)),
      batches_(std::move(batches)),
      method_(make_method(settings, shape)),
      optimiser_(settings.optimizer, settings.weight_decay, named_parameters(*method_), threads) {
  sums_.terms.resize(method_->terms().size());
  if (processes_ != nullptr) buckets_ = std::make_unique<GradientBuckets>(method_->parameters(), processes_);
}

// Their places among all parameters.
std::vector<size_t> Pretrainer::numbers_of(const std::vector<torch::Tensor>& parameters) const {
  const std::vector<torch::Tensor> all = method_->parameters();
  std::vector<size_t> numbers;
  for (const torch::Tensor& parameter : parameters) {
    const auto place =
        std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.is_same(parameter); });
    numbers.push_back(static_cast<size_t>(place - all.begin()));
  }
  return numbers;
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

std::optional<EpochMetrics> Pretrainer::train_step() {
  const Stopwatch watch;
  const GraphInput& input = batches_->input(epoch_, step_);
  learn(input);
  const bool last = step_ + 1 == steps_per_epoch();
  if (last && sums_.steps == 0)
    throw usage_error(fmt::format("mask_ratio {} masks none of {} nodes", settings_.mask_ratio, input.num_seeds()));
  ++step_;
  sums_.seconds += watch.seconds();
  if (!last) return std::nullopt;
  return end_epoch(method_->terms());
}

void Pretrainer::learn(const GraphInput& input) {
  method_->train();
  optimiser_.clear_gradients();
  LearningStep step;
  step.number = epoch_ * steps_per_epoch() + step_;
  if (processes_ != nullptr) {
    step.processes = processes_.get();
    step.before_last_pass = [&](const auto& complete) { buckets_->begin_last_pass(numbers_of(complete)); };
    step.after_last_pass = [&] { buckets_->finish(); };
  }
  const std::vector<double> terms = method_->learn(input, step);
  if (terms.empty()) return;
  if (!std::isfinite(terms[0])) {
    std::string values;
    for (size_t k = 1; k < terms.size(); ++k)
      values += fmt::format("{}{} {}", k > 1 ? ", " : "", method_->terms()[k], terms[k]);
    throw numerical_error(fmt::format("the loss of epoch {}{} is not finite{}; a smaller lr may help", epoch_ + 1,
                                      steps_per_epoch() > 1 ? fmt::format(", step {},", step_ + 1) : "",
                                      values.empty() ? "" : " (" + values + ")"));
  }
  optimiser_.step(learning_rate(settings_, epoch_));
  method_->updated(step.number);
  ++sums_.steps;
  for (size_t k = 0; k < terms.size(); ++k) sums_.terms[k] += terms[k];
}

torch::Tensor Pretrainer::embed_batch() {
  const GraphInput& input = batches_->input(std::max<int64_t>(epoch_ - 1, 0), 0);
  const auto learnt = model();
  learnt->eval();
  const torch::Tensor rows = learnt->embed(input);
  return input.is_molecules() ? pool(rows, input.graph_offsets, settings_.pooling) : rows;
}

NamedTensors Pretrainer::state() const {
  NamedTensors tensors = named_tensors(*method_, "model.");
  append(tensors, optimiser_.state(), "optimiser.");
  return tensors;
}

void Pretrainer::save(const std::string& path, const std::string& data) const {
  auto texts = progress_texts(data);
  texts["steps"] = std::to_string(optimiser_.steps());
  texts["method"] = settings_.method;
  texts["settings"] = settings_key(settings_);
  write_checkpoint(path, std::move(texts), views_of(state()));
}

void Pretrainer::restore(const std::string& path, const std::string& data) {
  const SafeTensors file = open_checkpoint(path, data);
  if (!extends(settings_, stored_settings(file), epochs_begun(file)))
    throw usage_error(fmt::format("{}: belongs to a run with other settings", path));
  const torch::NoGradGuard no_grad;
  copy_from(file, state());
  take_progress(file);
  optimiser_.set_steps(std::stoll(file.metadata("steps")));
}

void Pretrainer::follow_first() {
  std::vector<torch::Tensor> tensors;
  for (const auto& [name, tensor] : state()) tensors.push_back(tensor);
  std::vector<double> numbers = {static_cast<double>(epoch_), static_cast<double>(step_),
                                 static_cast<double>(optimiser_.steps()), static_cast<double>(sums_.steps),
                                 sums_.seconds};
  numbers.insert(numbers.end(), sums_.terms.begin(), sums_.terms.end());
  tensors.push_back(torch::tensor(numbers, torch::kFloat64));
  processes_->broadcast(tensors);
  const double* first = tensors.back().data_ptr<double>();
  epoch_ = static_cast<int64_t>(first[0]);
  step_ = static_cast<int64_t>(first[1]);
  optimiser_.set_steps(static_cast<int64_t>(first[2]));
  sums_.steps = static_cast<int64_t>(first[3]);
  sums_.seconds = first[4];
  std::copy_n(first + 5, sums_.terms.size(), sums_.terms.begin());
}

template <class Data>
std::shared_ptr<Model> pretrain(const Data& data, const Settings& settings, const InputOptions& options) {
  check(settings);
  const Settings chosen = with_chosen_features(settings, data, options.note);
  const auto seen = as_learnt(chosen, data, options.note, options.threads);
  Pretrainer trainer(prepare(*seen, chosen, options), input_shape(*seen), chosen);
  while (!trainer.done()) trainer.train_step();
  trainer.method().eval();
  return trainer.model();
}

template std::shared_ptr<Model> pretrain(const Graph&, const Settings&, const InputOptions&);
template std::shared_ptr<Model> pretrain(const GraphSet&, const Settings&, const InputOptions&);

}  // namespace graphpae
