#include "graphpae/evaluate/tuned_protocol.h"

#include <fmt/format.h>

#include <mutex>

#include "graphpae/core/error.h"
#include "graphpae/evaluate/protocols.h"
#include "graphpae/evaluate/random_splits.h"

namespace graphpae {

void add_predictions(ProtocolScores& scores, const SplitPredictions& predictions, const Split& split,
                     std::span<const int32_t> labels, int64_t classes, NodeMetric metric) {
  if (!scores.confusion) scores.confusion = Confusion(classes);
  ++scores.splits;
  scores.seeds = 1;
  scores.test.push_back(node_score(metric, predictions.test, classes, labels, split.test));
  scores.validation.push_back(node_score(metric, predictions.val, classes, labels, split.val));
  const std::vector<int32_t> predicted = likeliest(predictions.test, classes);
  for (size_t i = 0; i < split.test.size(); ++i) scores.confusion->add(labels[split.test[i]], predicted[i]);
}

TunedEvaluation evaluate_tuned(std::span<const ProbeBlock> blocks, std::span<const int32_t> labels, int64_t classes,
                               const std::vector<Split>& all_splits, const TunedOptions& options) {
  for (const ProbeBlock& block : blocks) {
    if (static_cast<size_t>(block.rows->rows()) != labels.size())
      throw data_error(fmt::format("{} rows, but {} labels", block.rows->rows(), labels.size()));
  }
  if (total_columns(blocks) == 0) throw data_error("rows without columns: nothing to learn from");
  const std::vector<Split> splits = labelled_only(all_splits, labels);
  check_evaluable(splits);

  const auto count = static_cast<int64_t>(splits.size());
  std::vector<TunedProbe> probes(splits.size());
  TunedEvaluation result;
  result.predictions.resize(splits.size());
  // Threads share out the splits if there are enough, else the work of each.
  const bool outer = count >= options.threads.count;
  const Threads inner = outer ? Threads{} : options.threads;
  std::mutex one_at_a_time;
  int64_t done = 0;
  parallel_tasks(outer ? options.threads : Threads{}, count, [&](int64_t s) {
    const Split& split = splits[s];
    TunedProbe& probe = probes[s];
    probe = fit_tuned_probe(blocks, labels, classes, split.train, split.val, options.metric, inner);
    result.predictions[s] = {log_probabilities(probe.scores, blocks, split.val, inner),
                             log_probabilities(probe.scores, blocks, split.test, inner)};
    probe.scores = {};
    const std::lock_guard lock(one_at_a_time);
    if (options.progress) options.progress(++done, count);
  });
  result.scores.overlap = overlap_of(splits);
  for (int64_t s = 0; s < count; ++s) {
    add_predictions(result.scores, result.predictions[s], splits[s], labels, classes, options.metric);
    result.scores.chosen.push_back(probes[s].candidate);
    result.scores.unconverged += probes[s].unconverged;
  }
  return result;
}

}  // namespace graphpae
