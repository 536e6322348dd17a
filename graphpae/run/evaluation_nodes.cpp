// Evaluation of the nodes of one graph: classes, by evaluate/protocols.h.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "graphpae/blocks/graph_blocks.h"
#include "graphpae/core/error.h"
#include "graphpae/core/options.h"
#include "graphpae/data/summary.h"
#include "graphpae/evaluate/combination.h"
#include "graphpae/evaluate/random_splits.h"
#include "graphpae/evaluate/resampling.h"
#include "graphpae/model/representations.h"
#include "graphpae/run/evaluation_subject.h"
#include "graphpae/run/few_labels.h"

namespace graphpae::run {
namespace {

constexpr int64_t kScores = 10;              // splits x seeds, at least, unless the options say otherwise
constexpr int64_t kMostPositioned = 200000;  // nodes of graphs whose eigenvectors are computed for a block

class Nodes : public EvaluationSubject {
 public:
  explicit Nodes(const Graph& of) : graph(of) {}

  ProbedRows probe(const Features& rows, const std::vector<Protocol>& protocols, const std::string& what,
                   const Watch& watch) const override {
    ProbedRows result;
    const bool tuned = options.probe.kind == ProbeKind::tuned;
    std::vector<Protocol> released = protocols;
    if (tuned && asks_for(protocols, Protocol::strict)) {
      result = probe_tuned({&rows}, what, watch);
      std::erase(released, Protocol::strict);
    }
    if (released.empty()) return result;
    graphpae::EvaluateOptions asked = with(options, released);
    if (tuned) asked.probe.kind = ProbeKind::adam;
    asked.progress = [&](int64_t done, int64_t total) { watch.report({"%", 100 * done / total, 100, 0, what}); };
    for (ProtocolScores& scores : scores_of(evaluate(rows, graph.labels(), graph.num_classes(), splits, asked)))
      result.scores.push_back(std::move(scores));
    return result;
  }
  std::vector<ProtocolScores> constant(const std::vector<Protocol>& protocols) const override {
    auto scores = scores_of(evaluate_majority(graph.labels(), graph.num_classes(), splits, with(options, protocols)));
    if (tuned_options.metric == NodeMetric::roc_auc && asks_for(protocols, Protocol::strict))
      scores.front().test.assign(splits.size(), 0.5);
    return scores;
  }
  std::string constant_title() const override {
    return tuned_options.metric == NodeMetric::roc_auc ? "constant score" : "majority class";
  }
  Features raw_features(const Settings& settings) const override { return raw_feature_rows(graph, settings); }

  std::vector<std::string> block_names() const override {
    if (options.probe.kind != ProbeKind::tuned) return {};
    std::vector<std::string> names = graph_block_names(graph);
    if (graph.num_nodes() > kMostPositioned) std::erase(names, "positions");
    return names;
  }
  Block block(const std::string& name) const override {
    BlockOptions asked;
    asked.threads = options.threads;
    return graph_block(graph, name, asked);
  }
  ProbedRows probe_block(const Block& block, const Watch& watch) const override {
    return probe_tuned({block.rows.get(), 1, block.rotated}, block.name, watch);
  }
  ProbedRows combined(std::span<const ProbedRows* const> members) const override {
    std::vector<const TunedEvaluation*> evaluations;
    for (const ProbedRows* member : members) evaluations.push_back(member->nodes.get());
    Combination combination = combine(evaluations, graph.labels(), graph.num_classes(), splits, tuned_options.metric);
    auto together = std::make_shared<TunedEvaluation>();
    together->predictions = std::move(combination.predictions);
    together->scores = std::move(combination.scores);
    return finished(std::move(together));
  }
  PairedDifference difference(const ProbedRows& first, const ProbedRows& second) const override {
    PairedDifference result = compare(first.scores.front(), second.scores.front());
    if (splits.size() > 1) return result;
    const auto interval = resampled([&](std::span<const int32_t> drawn) -> std::optional<double> {
      const auto a = drawn_score(*first.nodes, drawn), b = drawn_score(*second.nodes, drawn);
      return a && b ? std::optional(*a - *b) : std::nullopt;
    });
    if (interval) std::tie(result.difference.low, result.difference.high) = *interval;
    return result;
  }
  std::optional<FewLabels> few_labels(const std::vector<CurveRow>& rows, const std::vector<int64_t>& counts,
                                      const Watch& watch) const override {
    return draw_curves(rows, counts, graph.labels(), graph.num_classes(), splits, tuned_options, watch);
  }

  const Graph& graph;
  std::vector<Split> splits;  // labelled nodes only
  graphpae::EvaluateOptions options;
  TunedOptions tuned_options;

 private:
  static std::vector<ProtocolScores> scores_of(Evaluation evaluation) {
    std::vector<ProtocolScores> scores;
    if (evaluation.strict) scores.push_back(std::move(*evaluation.strict));
    if (evaluation.paper) scores.push_back(std::move(*evaluation.paper));
    scores.front().unconverged = evaluation.unconverged;
    return scores;
  }
  ProbedRows probe_tuned(const ProbeBlock& rows, const std::string& what, const Watch& watch) const {
    TunedOptions asked = tuned_options;
    asked.progress = [&](int64_t done, int64_t total) { watch.report({"%", 100 * done / total, 100, 0, what}); };
    return finished(std::make_shared<TunedEvaluation>(
        evaluate_tuned(std::span(&rows, 1), graph.labels(), graph.num_classes(), splits, asked)));
  }
  ProbedRows finished(std::shared_ptr<TunedEvaluation> evaluation) const {
    if (splits.size() == 1)
      evaluation->scores.resampled =
          resampled([&](std::span<const int32_t> drawn) { return drawn_score(*evaluation, drawn); });
    return {{evaluation->scores}, evaluation, nullptr};
  }
  // Of test rows of the only split.
  std::optional<std::pair<double, double>> resampled(
      const std::function<std::optional<double>(std::span<const int32_t>)>& score) const {
    return resampled_interval(static_cast<int64_t>(splits.front().test.size()), score);
  }
  std::optional<double> drawn_score(const TunedEvaluation& evaluation, std::span<const int32_t> drawn) const {
    const std::vector<int32_t>& test = splits.front().test;
    const std::vector<float>& all = evaluation.predictions.front().test;
    const int64_t classes = graph.num_classes();
    std::vector<float> scores;
    std::vector<int32_t> ids;
    bool both = tuned_options.metric == NodeMetric::accuracy;
    for (const int32_t place : drawn) {
      scores.insert(scores.end(), all.begin() + place * classes, all.begin() + (place + 1) * classes);
      ids.push_back(test[place]);
      both = both || graph.labels()[ids.back()] != graph.labels()[ids.front()];
    }
    if (!both) return std::nullopt;
    return node_score(tuned_options.metric, scores, classes, graph.labels(), ids);
  }
};

// Counts test nodes that training gives away, and drops them if asked to.
void treat_twins(Nodes& nodes, EvaluationFacts& facts, std::vector<std::string>& notes) {
  const Twins twins = find_twins(nodes.graph);
  for (size_t s = 0; s < nodes.splits.size(); ++s) {
    std::vector<int32_t>& test = nodes.splits[s].test;
    facts.test_nodes += static_cast<int64_t>(test.size());
    const std::vector<int32_t> found = twins_of_trained(twins, nodes.splits[s]);
    facts.test_twins += static_cast<int64_t>(found.size());
    if (!facts.dedupe) continue;
    const std::unordered_set<int32_t> dropped(found.begin(), found.end());
    std::erase_if(test, [&](int32_t node) { return dropped.contains(node); });
    if (test.empty()) throw data_error(fmt::format("--dedupe: split {} has no test node left", s));
  }
  if (facts.test_twins == 0) return;
  notes.push_back(fmt::format("{} of {} test nodes ({} splits) share features and neighbourhood with a training node{}",
                              facts.test_twins, facts.test_nodes, nodes.splits.size(),
                              facts.dedupe ? " and are left out" : "; --dedupe evaluates without them"));
}

// The probe of the strict protocol and the metric.
void choose_probe(const EvaluateOptions& options, const Graph& graph, const Settings& settings, EvaluationFacts& facts,
                  TunedOptions& tuned) {
  ProbeOptions& probe = facts.probe;
  probe.kind = ProbeKind::tuned;
  OptionTable choices;
  choices.add_choice<ProbeKind>("--probe", probe.kind,
                                {{"tuned", ProbeKind::tuned},
                                 {"released", ProbeKind::adam},
                                 {"adam", ProbeKind::adam},
                                 {"lbfgs", ProbeKind::lbfgs}},
                                "");
  NodeMetric asked = NodeMetric::accuracy;
  choices.add_choice<NodeMetric>(
      "--metric", asked,
      {{"auto", NodeMetric::accuracy}, {"accuracy", NodeMetric::accuracy}, {"roc_auc", NodeMetric::roc_auc}}, "");
  if (!options.probe.empty()) choices.set("--probe", options.probe);
  choices.set("--metric", options.metric);
  const bool paper = asks_for(facts.protocols, Protocol::paper);
  if (paper && probe.kind == ProbeKind::lbfgs)
    throw usage_error("--probe lbfgs: the paper protocol chooses among the epochs of the released probe; use strict");
  probe.lr = settings.probe_lr;
  probe.weight_decay = settings.probe_weight_decay;
  probe.epochs = settings.probe_epochs;
  if (asked == NodeMetric::roc_auc) {
    if (graph.num_classes() != 2)
      throw usage_error(fmt::format("--metric roc_auc is for two classes, the data have {}", graph.num_classes()));
    if (paper || probe.kind != ProbeKind::tuned)
      throw usage_error("--metric roc_auc is for the tuned probe under the strict protocol");
  }
  tuned.metric = asked;
  facts.metric = metric_name(asked);
}

}  // namespace

std::vector<Split> node_splits(const Graph& graph, const EvaluateOptions& options, EvaluationFacts& facts,
                               std::vector<std::string>& notes) {
  const int64_t count = options.num_splits > 0 ? options.num_splits : 10;
  const std::string scaffold = options.split == "scaffold" ? "; scaffold is for molecules" : "";
  return choose_splits(
      options,
      {.given = graph.splits().empty() ? graph.splits() : labelled_only(graph.splits(), graph.labels()),
       .fallback = "random:60/20/20",
       .fallback_note = fmt::format(
           "the data have no splits: {} random ones of 60/20/20 are drawn, each with the shares of all classes", count),
       .stratified_fallback = true,
       .missing = "splits; --split random:60/20/20 draws some",
       .expected = "public or random:TRAIN/VAL/TEST, such as random:60/20/20" + scaffold,
       .random_flags = "--num-splits, --split-seed and --stratified",
       .labels = [&] { return graph.labels(); }},
      facts, notes);
}

EvaluationPlan plan_evaluation(const Graph& graph, const Settings& settings, const EvaluateOptions& options,
                               const Context& context, std::vector<std::string>& notes) {
  if (graph.labels().empty())
    throw data_error("the data have no labels: nothing to evaluate; --labels names a file of them");
  if (graph.num_classes() < 2)
    throw data_error(fmt::format("the labels have {} class: nothing to tell apart", graph.num_classes()));
  EvaluationPlan plan;
  EvaluationFacts& facts = plan.facts;
  read_choices(options, plan);
  const auto nodes = std::make_shared<Nodes>(graph);
  choose_probe(options, graph, settings, facts, nodes->tuned_options);
  const bool tuned = facts.probe.kind == ProbeKind::tuned;
  if (!options.labels_per_class.empty()) {
    if (!tuned || !asks_for(facts.protocols, Protocol::strict))
      throw usage_error("--labels-per-class is for the tuned probe under the strict protocol");
    plan.labels_per_class = parse_label_counts(options.labels_per_class);
  }
  facts.dedupe = options.dedupe;
  for (int64_t c = 0; c < graph.num_classes(); ++c)
    facts.classes.push_back(graph.class_names().empty() ? std::to_string(c) : graph.class_names()[c]);

  nodes->splits = node_splits(graph, options, facts, notes);
  check_evaluable(nodes->splits);
  treat_twins(*nodes, facts, notes);
  facts.trained_share = trained_share(nodes->splits);
  facts.split_sizes = sizes_of(nodes->splits);
  facts.resampled = tuned && nodes->splits.size() == 1;
  const auto splits = static_cast<int64_t>(nodes->splits.size());
  const bool seeded = facts.probe.kind == ProbeKind::adam || (tuned && asks_for(facts.protocols, Protocol::paper));
  if (!seeded && options.seeds > 1)
    throw usage_error(fmt::format("--seeds: the {} probe is an optimum and has no seed; --probe released has",
                                  tuned ? "tuned" : "lbfgs"));
  nodes->options.probe = facts.probe;
  nodes->options.seeds = options.seeds > 0 ? options.seeds : seeded ? (kScores + splits - 1) / splits : 1;
  nodes->options.threads = nodes->tuned_options.threads = context.threads;
  plan.subject = nodes;
  return plan;
}

}  // namespace graphpae::run
