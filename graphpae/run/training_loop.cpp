#include "graphpae/run/training_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/stopwatch.h"

namespace graphpae::run {
namespace {

constexpr double kSecondsBetweenCheckpoints = 300;

// ", step 5" inside an epoch.
std::string step_text(const Resumable& trainer) {
  return trainer.step() > 0 ? fmt::format(", step {}", trainer.step()) : "";
}

Error interrupted(const Resumable& trainer, const TrainingLoop& loop) {
  if (loop.run == nullptr) return {ErrorKind::interrupted, ""};  // another process says it
  return {ErrorKind::interrupted,
          fmt::format("interrupted after epoch {}{}{}; --resume goes on from there", trainer.epoch(),
                      step_text(trainer), loop.part.empty() ? "" : " of " + loop.part)};
}

}  // namespace

std::vector<EpochMetrics> train(Resumable& trainer, const TrainingLoop& loop, const Context& context) {
  std::vector<EpochMetrics> metrics;
  if (loop.run != nullptr) metrics = loop.run->rewind_metrics(trainer.epoch());
  const int64_t steps = trainer.steps_per_epoch(), total = trainer.settings().epochs * steps;
  const int64_t first = trainer.epoch() * steps + trainer.step();
  ProgressReport progress{steps > 1 ? "steps" : "epochs", first, total, first, ""};
  context.watch.report(progress);
  if (!trainer.done()) context.watch.stopping();  // from now on a signal is answered by a checkpoint
  Stopwatch since_checkpoint;
  while (!trainer.done()) {
    const std::optional<EpochMetrics> epoch = trainer.train_step();
    if (epoch) {
      metrics.push_back(*epoch);
      if (loop.run != nullptr) loop.run->append(*epoch);
    }
    const bool stopping = loop.team.any(context.watch.stopping()) && !trainer.done();
    const bool due = stopping || trainer.done() || (epoch && epoch->epoch % loop.checkpoint_every == 0) ||
                     since_checkpoint.seconds() > kSecondsBetweenCheckpoints;
    progress.done = trainer.epoch() * steps + trainer.step();
    if (loop.note) progress.note = loop.note(metrics);
    context.watch.report(progress);
    if (due && loop.run != nullptr) {
      loop.run->save_checkpoint(trainer, loop.data);
      since_checkpoint.restart();
    }
    if (stopping) throw interrupted(trainer, loop);
  }
  if (progress.done < total) context.watch.report({progress.unit, progress.done, progress.done, first, progress.note});
  return metrics;
}

void go_on(Resumable& trainer, const RunDirectory& run, const std::string& data, const std::string& part,
           const Watch& watch) {
  std::vector<std::string> notes;
  if (run.restore_checkpoint(trainer, data, notes)) {
    const std::string name = part.empty() ? "" : part + ": ";
    watch.tell(trainer.done() ? fmt::format("{}the run is finished after {} epochs", name, trainer.epoch())
                              : fmt::format("{}going on after epoch {}{}", name, trainer.epoch(), step_text(trainer)));
  }
  watch.say_all(notes);
}

std::string terms_text(const EpochMetrics& metrics) {
  std::string text;
  for (size_t k = 1; k < metrics.terms.size(); ++k) {
    auto [name, value] = metrics.terms[k];
    if (std::isnan(value)) continue;
    if (name.starts_with("loss_")) name = name.substr(5);
    const std::string number = std::abs(value) < 0.01 ? fmt::format("{:.1e}", value) : fmt::format("{:.4f}", value);
    text += fmt::format("{}{} {}", text.empty() ? "(" : ", ", name, number);
  }
  return text.empty() ? "" : text + ")";
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double sum_of_seconds(const std::vector<EpochMetrics>& metrics) {
  double seconds = 0;
  for (const EpochMetrics& epoch : metrics) seconds += epoch.seconds;
  return seconds;
}

double median_of_seconds(const std::vector<EpochMetrics>& metrics) {
  std::vector<double> times;
  for (const EpochMetrics& epoch : metrics) times.push_back(epoch.seconds);
  return median(std::move(times));
}

}  // namespace graphpae::run
