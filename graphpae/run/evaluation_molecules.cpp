// Evaluation of molecules: a property each task, by evaluate/graph_protocols.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "graphpae/blocks/molecule_blocks.h"
#include "graphpae/core/error.h"
#include "graphpae/data/scaffold_split.h"
#include "graphpae/evaluate/graph_combination.h"
#include "graphpae/evaluate/graph_protocols.h"
#include "graphpae/evaluate/resampling.h"
#include "graphpae/model/representations.h"
#include "graphpae/run/evaluation_subject.h"

namespace graphpae::run {
namespace {

// The scores of one split as the next of `all`.
void add_split(ProtocolScores& all, const GraphScores& split) {
  ++all.splits;
  all.seeds = 1;
  all.test.push_back(split.test);
  all.validation.push_back(split.val);
  all.tasks.resize(split.tasks.size());
  for (size_t t = 0; t < split.tasks.size(); ++t) {
    all.tasks[t].test.push_back(split.tasks[t].test);
    all.tasks[t].validation.push_back(split.tasks[t].val);
    all.tasks[t].penalties.push_back(split.tasks[t].penalty);
  }
  all.notes.push_back(split.notes);
  all.unconverged += split.unconverged;
}

class Molecules : public EvaluationSubject {
 public:
  Molecules(const GraphSet& molecules, Threads threads)
      : set(molecules), targets{set.parts().task_names, set.parts().targets}, metric(graph_metric(targets)) {
    options.threads = threads;
  }

  ProbedRows probe(const Features& rows, const std::vector<Protocol>& protocols, const std::string& what,
                   const Watch& watch) const override {
    return probe_scaled(rows, RowScaling::length, protocols, what, watch);
  }
  std::vector<ProtocolScores> constant(const std::vector<Protocol>& protocols) const override {
    return over_splits(protocols,
                       [&](int64_t s, const GraphEvaluateOptions& asked) {
                         return evaluate_constant(targets, splits[s], asked);
                       })
        .scores;
  }

  std::vector<std::string> block_names() const override {
    return released ? std::vector<std::string>() : molecule_block_names(set);
  }
  Block block(const std::string& name) const override {
    BlockOptions asked;
    asked.threads = options.threads;
    asked.fingerprint = kFoldedCounts;
    return molecule_block(set, name, asked);
  }
  ProbedRows probe_block(const Block& block, const Watch& watch) const override {
    return probe_scaled(*block.rows, RowScaling::columns, {Protocol::strict}, block.name, watch);
  }
  ProbedRows combined(std::span<const ProbedRows* const> members) const override {
    auto all = std::make_shared<std::vector<GraphScores>>();
    ProbedRows result;
    result.scores.emplace_back();
    for (size_t s = 0; s < splits.size(); ++s) {
      std::vector<const GraphScores*> of_split;
      for (const ProbedRows* member : members) of_split.push_back(&member->molecules->at(s));
      all->push_back(combine_graphs(of_split, targets, splits[s], metric));
      add_split(result.scores.front(), all->back());
    }
    finish(result, all);
    return result;
  }
  PairedDifference difference(const ProbedRows& first, const ProbedRows& second) const override {
    const bool errors = metric == GraphMetric::rmse;
    const ProbedRows &better = errors ? second : first, &worse = errors ? first : second;
    PairedDifference result = compare(better.scores.front(), worse.scores.front());
    if (splits.size() > 1) return result;
    const auto interval = resampled_interval(static_cast<int64_t>(splits.front().test.size()),
                                             [&](std::span<const int32_t> drawn) -> std::optional<double> {
                                               const auto a = drawn_score(better.molecules->front(), drawn),
                                                          b = drawn_score(worse.molecules->front(), drawn);
                                               return a && b ? std::optional(*a - *b) : std::nullopt;
                                             });
    if (interval) std::tie(result.difference.low, result.difference.high) = *interval;
    return result;
  }
  std::string constant_title() const override {
    return metric == GraphMetric::rmse ? "mean of the labels" : "constant score";
  }
  Features raw_features(const Settings& settings) const override { return raw_feature_rows(set, settings); }

  const GraphSet& set;
  const GraphTargets targets;
  const GraphMetric metric;
  std::vector<Split> splits;
  GraphEvaluateOptions options;
  bool released = false;  // as published: no blocks

 private:
  static constexpr int64_t kFoldedCounts = 2048;  // columns of fingerprints

  ProbedRows probe_scaled(const Features& rows, RowScaling scaling, const std::vector<Protocol>& protocols,
                          const std::string& what, const Watch& watch) const {
    const auto count = static_cast<int64_t>(splits.size());
    return over_splits(protocols, [&](int64_t s, GraphEvaluateOptions& asked) {
      asked.scaling = scaling;
      asked.progress = [&, s](int64_t done, int64_t total) {
        watch.report({"%", 100 * std::min(s * total + done, count * total) / (count * total), 100, 0, what});
      };
      return evaluate_graphs(rows, targets, splits[s], asked);
    });
  }
  template <class Evaluate>
  ProbedRows over_splits(const std::vector<Protocol>& protocols, const Evaluate& evaluate) const {
    ProbedRows result;
    result.scores.resize(protocols.size());
    const auto strict = std::make_shared<std::vector<GraphScores>>();
    for (size_t s = 0; s < splits.size(); ++s) {
      GraphEvaluateOptions asked = with(options, protocols);
      const GraphEvaluation of_split = evaluate(static_cast<int64_t>(s), asked);
      for (size_t p = 0; p < protocols.size(); ++p)
        add_split(result.scores[p], protocols[p] == Protocol::strict ? *of_split.strict : *of_split.paper);
      if (of_split.strict) strict->push_back(*of_split.strict);
    }
    if (asks_for(protocols, Protocol::strict)) finish(result, strict);
    return result;
  }
  // The first scores are strict: their intervals, and what they predicted.
  void finish(ProbedRows& rows, std::shared_ptr<const std::vector<GraphScores>> predicted) const {
    ProtocolScores& scores = rows.scores.front();
    scores.overlap = overlap_of(splits);
    if (splits.size() == 1) {
      scores.resampled =
          resampled_interval(static_cast<int64_t>(splits.front().test.size()),
                             [&](std::span<const int32_t> drawn) { return drawn_score(predicted->front(), drawn); });
    }
    rows.molecules = std::move(predicted);
  }
  // The mean over tasks, of test rows of the only split.
  std::optional<double> drawn_score(const GraphScores& scores, std::span<const int32_t> drawn) const {
    double sum = 0, count = 0;
    std::vector<double> predictions(drawn.size()), labels(drawn.size());
    for (size_t t = 0; t < scores.tasks.size(); ++t) {
      if (!scores.tasks[t].test) continue;
      for (size_t i = 0; i < drawn.size(); ++i) {
        predictions[i] = scores.tasks[t].test_predictions[drawn[i]];
        labels[i] = targets.at(splits.front().test[drawn[i]], static_cast<int64_t>(t));
      }
      const auto score = metric == GraphMetric::rocauc ? roc_auc(predictions, labels) : rmse(predictions, labels);
      if (!score) return std::nullopt;
      sum += *score;
      ++count;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  }
};

void refuse_options_of_one_graph(const EvaluateOptions& options) {
  const auto refuse = [](bool given, const char* flag, const char* instead) {
    if (given) throw usage_error(fmt::format("{} is for one graph: {}", flag, instead));
  };
  refuse(!options.labels_per_class.empty(), "--labels-per-class", "molecules have tasks");
  refuse(options.metric != "auto", "--metric", "molecules are scored by ROC-AUC or RMSE, by their labels");
  refuse(!options.probe.empty() && options.probe != "released", "--probe",
         "the probe of molecules is ridge or logistic regression, by their labels");
  refuse(options.seeds > 0, "--seeds", "the probe of molecules has no seed; --also joins runs with other seeds");
  refuse(options.stratified, "--stratified", "molecules may have many tasks");
  refuse(options.dedupe, "--dedupe", "twins are nodes");
}

// Molecules that a random split shares out, those with atoms and at least one label, are 0, others -1.
std::vector<int32_t> labelled_molecules(const Molecules& molecules) {
  const std::vector<int64_t>& offsets = molecules.set.parts().node_offsets;
  std::vector<int32_t> labels(static_cast<size_t>(molecules.set.num_graphs()), -1);
  for (int64_t g = 0; g < molecules.set.num_graphs(); ++g) {
    for (int64_t t = 0; t < molecules.targets.tasks() && offsets[g] < offsets[g + 1]; ++t) {
      if (!std::isnan(molecules.targets.at(g, t))) labels[g] = 0;
    }
  }
  return labels;
}

}  // namespace

EvaluationPlan plan_evaluation(const GraphSet& set, const Settings&, const EvaluateOptions& options,
                               const Context& context, std::vector<std::string>& notes) {
  refuse_options_of_one_graph(options);
  if (set.num_tasks() == 0)
    throw data_error("the data have no labels: nothing to evaluate; --tasks names columns of them");
  const auto molecules = std::make_shared<Molecules>(set, context.threads);
  molecules->released = options.probe == "released";
  EvaluationPlan plan;
  EvaluationFacts& facts = plan.facts;
  facts.metric = metric_name(molecules->metric);
  facts.tasks = molecules->targets.names;
  read_choices(options, plan);
  // Loading and splitting leave molecules without atoms out of every part.
  molecules->splits =
      choose_splits(options,
                    {.given = set.parts().splits,
                     .fallback = "scaffold",
                     .fallback_note = "the data have no split: molecules are split 80/10/10 by scaffold",
                     .missing = "split; --split scaffold or random:80/10/10 makes one",
                     .expected = "public, scaffold or random:TRAIN/VAL/TEST, such as random:80/10/10",
                     .random_flags = "--num-splits and --split-seed",
                     .labels = [&] { return labelled_molecules(*molecules); },
                     .scaffold = [&] { return scaffold_split(set, context.threads); }},
                    facts, notes);
  for (size_t s = 0; s < molecules->splits.size(); ++s) {
    const Split& split = molecules->splits[s];
    naming(fmt::format("split {}", s),
           [&] { check_evaluable(molecules->targets, split, with(molecules->options, facts.protocols)); });
    for (const int32_t id : split.train) {
      for (int64_t t = 0; t < molecules->targets.tasks(); ++t) {
        ++facts.training_labels;
        facts.missing_labels += std::isnan(molecules->targets.at(id, t)) ? 1 : 0;
      }
    }
  }
  facts.split_sizes = sizes_of(molecules->splits);
  facts.resampled = molecules->splits.size() == 1;
  plan.subject = molecules;
  return plan;
}

}  // namespace graphpae::run
