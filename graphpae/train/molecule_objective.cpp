#include "graphpae/train/molecule_objective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/metrics.h"
#include "graphpae/model/embed.h"

namespace graphpae {
namespace {

std::vector<int32_t> with_atoms(const MoleculeInputs& molecules, std::span<const int32_t> part) {
  std::vector<int32_t> kept;
  std::copy_if(part.begin(), part.end(), std::back_inserter(kept),
               [&](int32_t g) { return molecules.num_atoms(g) > 0; });
  return kept;
}

torch::Tensor rows_at(const torch::Tensor& rows, std::span<const int32_t> chosen) {
  return rows.index_select(0, torch::tensor(std::vector<int64_t>(chosen.begin(), chosen.end()), torch::kInt64));
}

}  // namespace

const char* metric_name(TargetMetric metric) {
  switch (metric) {
    case TargetMetric::rocauc: return "rocauc";
    case TargetMetric::mae: return "mae";
    default: return "rmse";
  }
}

std::optional<double> TargetScore::of(TargetMetric metric) const {
  return metric == TargetMetric::rocauc ? rocauc : metric == TargetMetric::mae ? mae : rmse;
}

MoleculeObjective::MoleculeObjective(std::shared_ptr<const MoleculeInputs> molecules, std::vector<std::string> names,
                                     std::vector<double> values, Split split, const Settings& settings,
                                     const FinetuneSettings& finetune, std::string featurizer,
                                     std::vector<TargetUnit> units)
    : molecules_(std::move(molecules)),
      names_(std::move(names)),
      values_(std::move(values)),
      split_{with_atoms(*molecules_, split.train), with_atoms(*molecules_, split.val),
             with_atoms(*molecules_, split.test)},
      batches_(split_.train, settings),
      finetune_(finetune),
      featurizer_(std::move(featurizer)),
      units_(units.empty() ? std::vector<TargetUnit>(names_.size()) : std::move(units)) {
  choose_loss(finetune.loss);
  measure_training_labels(finetune.protocol);
  check_validation();
}

void MoleculeObjective::choose_loss(TargetLoss wanted) {
  const bool classes = graph_metric(targets()) == GraphMetric::rocauc;
  loss_ = wanted != TargetLoss::automatic ? wanted : classes ? TargetLoss::bce : TargetLoss::l2;
  if (classes && loss_ != TargetLoss::bce)
    throw usage_error(fmt::format("loss {} is for numbers, and all labels are 0 or 1: use loss bce",
                                  loss_ == TargetLoss::l1 ? "l1" : "l2"));
  if (!classes && loss_ == TargetLoss::bce)
    throw usage_error("loss bce is for classes 0 and 1, and the labels are other numbers: use loss l1 or l2");
  metric_ = classes ? TargetMetric::rocauc : loss_ == TargetLoss::l1 ? TargetMetric::mae : TargetMetric::rmse;
}

void MoleculeObjective::measure_training_labels(Protocol protocol) {
  const size_t tasks = names_.size();
  scale_.assign(tasks, 1);
  shift_.assign(tasks, 0);
  deviations_.assign(tasks, 1);
  for (size_t t = 0; t < tasks; ++t) {
    double count = 0, sum = 0, squares = 0;
    for (const int32_t g : split_.train) {
      if (std::isnan(label(g, static_cast<int64_t>(t)))) continue;
      ++count;
      sum += label(g, static_cast<int64_t>(t));
    }
    if (count == 0)
      throw data_error(
          fmt::format("target '{}' has no label in the training part; --targets leaves it out", names_[t]));
    if (metric_ == TargetMetric::rocauc) continue;
    const double mean = sum / count;
    for (const int32_t g : split_.train) {
      const double difference = label(g, static_cast<int64_t>(t)) - mean;
      if (!std::isnan(difference)) squares += difference * difference;
    }
    const double deviation = std::sqrt(squares / count);
    if (deviation > 0) deviations_[t] = deviation;
    if (protocol == Protocol::paper) continue;
    shift_[t] = mean;
    scale_[t] = deviations_[t];
  }
}

void MoleculeObjective::check_validation() const {
  for (int64_t t = 0; t < num_tasks(); ++t) {
    bool zero = false, one = false, any = false;
    for (const int32_t g : split_.val) {
      any = any || !std::isnan(label(g, t));
      zero = zero || label(g, t) == 0;
      one = one || label(g, t) == 1;
    }
    if (metric_ == TargetMetric::rocauc ? zero && one : any) return;
  }
  throw data_error(metric_ == TargetMetric::rocauc ? "validation part: no target has both classes to be scored by"
                                                   : "validation part: no target has labels to be scored by");
}

PredictorTasks MoleculeObjective::tasks() const {
  PredictorTasks tasks;
  tasks.kind = metric_ == TargetMetric::rocauc ? OutputKind::classes : OutputKind::numbers;
  tasks.head = finetune_.head;
  tasks.names = names_;
  tasks.units = units_;
  tasks.featurizer = featurizer_;
  tasks.metric = metric_name(metric_);
  tasks.protocol = name_of(finetune_.protocol);
  return tasks;
}

std::string MoleculeObjective::key() const { return fmt::format("targets {}", fmt::join(names_, ",")); }

void MoleculeObjective::set_scale(Predictor& predictor) const {
  predictor.scale = scale_;
  predictor.shift = shift_;
}

void MoleculeObjective::keep_rows(Predictor& predictor) { kept_rows_ = embed(*predictor.model, *molecules_); }

StepLoss MoleculeObjective::step(Predictor& predictor, int64_t epoch, int64_t step, uint64_t dropout_key) {
  const std::span<const int32_t> chosen = batches_.batch(epoch, step).members;
  std::vector<float> labels;
  for (const int32_t g : chosen) {
    for (size_t t = 0; t < names_.size(); ++t)
      labels.push_back(static_cast<float>((label(g, static_cast<int64_t>(t)) - shift_[t]) / scale_[t]));
  }
  const bool fused = molecules_->fused();
  const torch::Tensor rows =
      kept_rows_.defined() ? rows_at(kept_rows_, chosen) : predictor.rows(molecules_->batch(chosen), true, dropout_key);
  const torch::Tensor outputs = predictor.outputs(rows, fused, threads());
  return {outputs, target_loss(outputs, labels, loss_)};
}

double MoleculeObjective::validate(Predictor& predictor) { return *score(predictor, split_.val).scaled; }

TargetScores MoleculeObjective::score(Predictor& predictor, std::span<const int32_t> part) {
  const std::vector<int32_t> molecules = with_atoms(*molecules_, part);
  std::vector<double> predictions;
  if (kept_rows_.defined()) {
    const torch::NoGradGuard no_grad;
    predictions =
        predictor.predictions(predictor.outputs(rows_at(kept_rows_, molecules), molecules_->fused(), threads()));
  } else {
    predictions = predictor.predict(*molecules_, molecules);
  }
  TargetScores scores;
  double sum = 0, scaled = 0, used = 0;
  for (size_t t = 0; t < names_.size(); ++t) {
    TargetScore score;
    for (size_t m = 0; m < molecules.size(); ++m) {
      const double value = label(molecules[m], static_cast<int64_t>(t));
      if (std::isnan(value)) continue;
      score.rows.push_back(molecules[m]);
      score.predictions.push_back(predictions[m * names_.size() + t]);
      score.labels.push_back(value);
    }
    if (metric_ == TargetMetric::rocauc) {
      score.rocauc = roc_auc(score.predictions, score.labels);
    } else {
      score.rmse = rmse(score.predictions, score.labels);
      score.mae = mae(score.predictions, score.labels);
    }
    if (const auto value = score.of(metric_)) {
      sum += *value;
      scaled += *value / deviations_[t];
      ++used;
    }
    scores.tasks.push_back(std::move(score));
  }
  if (used > 0) {
    scores.mean = sum / used;
    scores.scaled = scaled / used;
  }
  return scores;
}

}  // namespace graphpae
