#include "graphpae/evaluate/protocols.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/evaluate/random_splits.h"

namespace graphpae {
namespace {

// Problems side by side in one product: wider gains little and costs memory.
constexpr int64_t kWidth = 64;

// Nodes that any split uses: those trained on first, so that gradients need no rows after them.
std::vector<int32_t> used_nodes(const std::vector<Split>& splits, int64_t count) {
  std::vector<int8_t> rank(static_cast<size_t>(count), 2);  // 0 trained on, 1 else used, 2 not used
  for (const Split& split : splits) {
    for (const int32_t node : split.train) rank[node] = 0;
    for (const auto* part : {&split.val, &split.test}) {
      for (const int32_t node : *part) rank[node] = std::min<int8_t>(rank[node], 1);
    }
  }
  std::vector<int32_t> nodes;
  for (int8_t wanted = 0; wanted < 2; ++wanted) {
    for (int64_t node = 0; node < count; ++node) {
      if (rank[node] == wanted) nodes.push_back(static_cast<int32_t>(node));
    }
  }
  return nodes;
}

// Rows with their true classes: a part of a split.
struct Part {
  std::vector<int32_t> rows, labels;

  int64_t correct(std::span<const int32_t> predictions) const {
    int64_t count = 0;
    for (size_t i = 0; i < rows.size(); ++i) count += predictions[rows[i]] == labels[i];
    return count;
  }
  Confusion confusion(std::span<const int32_t> predictions, int64_t classes) const {
    Confusion result(classes);
    for (size_t i = 0; i < rows.size(); ++i) result.add(labels[i], predictions[rows[i]]);
    return result;
  }
};

// The predictions a protocol settles on, candidate by candidate.
struct Choice {
  int64_t candidate = -1;
  int64_t validation = -1;  // most correct validation rows so far
  int64_t tested = -1;      // correct test rows, paper only
  std::vector<int32_t> predictions;

  void keep(int64_t number, std::span<const int32_t> now) {
    candidate = number;
    predictions.assign(now.begin(), now.end());
  }
};

// `correct` counts validation rows. Only validation labels are looked at; the test part waits until all candidates have
// been seen.
void offer_strict(Choice& choice, int64_t candidate, std::span<const int32_t> predictions, int64_t correct) {
  if (correct <= choice.validation) return;
  choice.validation = correct;
  choice.keep(candidate, predictions);
}

void offer_paper(Choice& choice, int64_t candidate, std::span<const int32_t> predictions, int64_t correct,
                 const Part& pooled) {
  if (correct < choice.validation) return;
  choice.validation = correct;
  const int64_t tested = pooled.correct(predictions);
  if (tested <= choice.tested) return;
  choice.tested = tested;
  choice.keep(candidate, predictions);
}

ProtocolScores empty_scores(const std::vector<Split>& splits, int64_t seeds, int64_t classes) {
  ProtocolScores scores;
  scores.splits = static_cast<int64_t>(splits.size());
  scores.seeds = seeds;
  scores.confusion = Confusion(classes);
  return scores;
}

void add_score(ProtocolScores& scores, const Confusion& confusion) {
  scores.test.push_back(confusion.accuracy());
  *scores.confusion += confusion;
}

}  // namespace

void check_evaluable(const std::vector<Split>& splits) {
  if (splits.empty()) throw data_error("there are no splits");
  for (size_t s = 0; s < splits.size(); ++s) {
    if (splits[s].train.empty()) throw data_error(fmt::format("split {}: no labelled node to train on", s));
    if (splits[s].val.empty()) throw data_error(fmt::format("split {}: no labelled node to validate on", s));
    if (splits[s].test.empty()) throw data_error(fmt::format("split {}: no labelled node to test on", s));
  }
}

std::vector<int32_t> pooled_test(const std::vector<Split>& splits) {
  std::vector<int32_t> nodes;
  for (const Split& split : splits) nodes.insert(nodes.end(), split.test.begin(), split.test.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

double overlap_of(const std::vector<Split>& splits) {
  if (splits.size() < 2) return 0;
  double sum = 0;
  for (const Split& split : splits)
    sum += static_cast<double>(split.test.size()) / static_cast<double>(std::max<size_t>(1, split.train.size()));
  return sum / static_cast<double>(splits.size());
}

double trained_share(const std::vector<Split>& splits) {
  const std::vector<int32_t> pooled = pooled_test(splits);
  double sum = 0;
  for (const Split& split : splits) {
    const auto trained = std::count_if(split.train.begin(), split.train.end(), [&](int32_t node) {
      return std::binary_search(pooled.begin(), pooled.end(), node);
    });
    sum += static_cast<double>(trained) / static_cast<double>(pooled.size());
  }
  return sum / static_cast<double>(splits.size());
}

Evaluation evaluate(const Features& rows, std::span<const int32_t> labels, int64_t classes,
                    const std::vector<Split>& all_splits, const EvaluateOptions& options) {
  if (options.probe.kind == ProbeKind::tuned)
    throw usage_error("the tuned probe has a protocol of its own: evaluate_tuned");
  if (options.paper && options.probe.kind != ProbeKind::adam)
    throw usage_error("the paper protocol chooses among the epochs of the released probe: it needs the adam probe");
  if (static_cast<size_t>(rows.rows()) != labels.size())
    throw data_error(fmt::format("{} rows, but {} labels", rows.rows(), labels.size()));
  if (rows.columns() == 0) throw data_error("rows without columns: nothing to learn from");
  const std::vector<Split> splits = labelled_only(all_splits, labels);
  check_evaluable(splits);  // labelled_only has checked ids and that parts are disjoint

  const std::vector<int32_t> nodes = used_nodes(splits, rows.rows());
  std::vector<int32_t> row_of(labels.size(), -1);
  for (size_t row = 0; row < nodes.size(); ++row) row_of[nodes[row]] = static_cast<int32_t>(row);
  const auto part = [&](const std::vector<int32_t>& ids) {
    Part result;
    for (const int32_t node : ids) {
      result.rows.push_back(row_of[node]);
      result.labels.push_back(labels[node]);
    }
    return result;
  };
  const DesignMatrix x(rows, nodes, options.threads);
  const Part pooled = part(pooled_test(splits));

  Evaluation result;
  if (options.strict) result.strict = empty_scores(splits, options.seeds, classes);
  if (options.paper) result.paper = empty_scores(splits, options.seeds, classes);
  const int64_t problems = static_cast<int64_t>(splits.size()) * options.seeds;
  const int64_t group = std::max<int64_t>(1, kWidth / classes);
  const int64_t candidates = num_candidates(options.probe);
  const int64_t groups = (problems + group - 1) / group;
  for (int64_t first = 0; first < problems; first += group) {
    const int64_t count = std::min(group, problems - first);
    std::vector<ProbeProblem> batch;
    std::vector<Part> validation;
    for (int64_t p = first; p < first + count; ++p) {
      const Split& split = splits[p / options.seeds];
      Part train = part(split.train);
      batch.push_back(
          {std::move(train.rows), std::move(train.labels), options.seed + static_cast<uint64_t>(p % options.seeds)});
      validation.push_back(part(split.val));
    }
    std::vector<Choice> strict(static_cast<size_t>(count)), paper(static_cast<size_t>(count));
    const auto observe = [&](int64_t candidate, std::span<const int32_t> predictions) {
#pragma omp parallel for schedule(static) num_threads(options.threads.count)
      for (int64_t p = 0; p < count; ++p) {
        const auto own = predictions.subspan(static_cast<size_t>(p * x.rows()), static_cast<size_t>(x.rows()));
        const int64_t correct = validation[p].correct(own);
        if (options.strict) offer_strict(strict[p], candidate, own, correct);
        if (options.paper) offer_paper(paper[p], candidate, own, correct, pooled);
      }
      if (options.progress) options.progress(first / group * candidates + candidate + 1, groups * candidates);
    };
    result.unconverged += train_probes(x, classes, batch, options.probe, observe, options.threads).unconverged;
    for (int64_t p = 0; p < count; ++p) {
      const auto settle = [&](ProtocolScores& scores, const Choice& choice, const Part& test) {
        add_score(scores, test.confusion(choice.predictions, classes));
        scores.chosen.push_back(choice.candidate);
        scores.validation.push_back(static_cast<double>(validation[p].correct(choice.predictions)) /
                                    static_cast<double>(validation[p].rows.size()));
      };
      if (options.strict) settle(*result.strict, strict[p], part(splits[(first + p) / options.seeds].test));
      if (options.paper) settle(*result.paper, paper[p], pooled);
    }
  }
  if (result.strict) result.strict->overlap = overlap_of(splits);
  return result;
}

Evaluation evaluate_majority(std::span<const int32_t> labels, int64_t classes, const std::vector<Split>& all_splits,
                             const EvaluateOptions& options) {
  const std::vector<Split> splits = labelled_only(all_splits, labels);
  check_evaluable(splits);
  const std::vector<int32_t> pooled = pooled_test(splits);
  Evaluation result;
  if (options.strict) result.strict = empty_scores(splits, 1, classes);
  if (options.paper) result.paper = empty_scores(splits, 1, classes);
  for (const Split& split : splits) {
    std::vector<int64_t> counts(static_cast<size_t>(classes), 0);
    for (const int32_t node : split.train) ++counts[labels[node]];
    const auto most = static_cast<int32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    const auto add = [&](ProtocolScores& scores, const std::vector<int32_t>& test) {
      Confusion confusion(classes);
      for (const int32_t node : test) confusion.add(labels[node], most);
      add_score(scores, confusion);
    };
    if (options.strict) add(*result.strict, split.test);
    if (options.paper) add(*result.paper, pooled);
  }
  if (result.strict) result.strict->overlap = overlap_of(splits);
  return result;
}

}  // namespace graphpae
