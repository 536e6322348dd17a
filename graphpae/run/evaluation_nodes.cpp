// Evaluation of the nodes of one graph: classes, by evaluate/protocols.h.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "graphpae/core/error.h"
#include "graphpae/core/options.h"
#include "graphpae/data/summary.h"
#include "graphpae/evaluate/random_splits.h"
#include "graphpae/model/representations.h"
#include "graphpae/run/evaluation_subject.h"

namespace graphpae::run {
namespace {

constexpr int64_t kScores = 10;  // splits x seeds, at least, unless the options say otherwise

class Nodes : public EvaluationSubject {
 public:
  explicit Nodes(const Graph& of) : graph(of) {}

  std::vector<ProtocolScores> probe(const Features& rows, const std::vector<Protocol>& protocols,
                                    const std::string& what, const Watch& watch) const override {
    graphpae::EvaluateOptions asked = with(options, protocols);
    asked.progress = [&](int64_t done, int64_t total) { watch.report({"probe steps", done, total, 0, what}); };
    return scores_of(evaluate(rows, graph.labels(), graph.num_classes(), splits, asked));
  }
  std::vector<ProtocolScores> constant(const std::vector<Protocol>& protocols) const override {
    return scores_of(evaluate_majority(graph.labels(), graph.num_classes(), splits, with(options, protocols)));
  }
  std::string constant_title() const override { return "majority class"; }
  Features raw_features(const Settings& settings) const override { return raw_feature_rows(graph, settings); }

  const Graph& graph;
  std::vector<Split> splits;  // labelled nodes only
  graphpae::EvaluateOptions options;

 private:
  static std::vector<ProtocolScores> scores_of(Evaluation evaluation) {
    std::vector<ProtocolScores> scores;
    if (evaluation.strict) scores.push_back(std::move(*evaluation.strict));
    if (evaluation.paper) scores.push_back(std::move(*evaluation.paper));
    scores.front().unconverged = evaluation.unconverged;
    return scores;
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
  ProbeOptions& probe = facts.probe;
  OptionTable kinds;
  kinds.add_choice<ProbeKind>("--probe", probe.kind, {{"adam", ProbeKind::adam}, {"lbfgs", ProbeKind::lbfgs}}, "");
  if (!options.probe.empty()) kinds.set("--probe", options.probe);
  const bool seeded = probe.kind == ProbeKind::adam;
  if (asks_for(facts.protocols, Protocol::paper) && !seeded)
    throw usage_error("--probe lbfgs: the paper protocol chooses among the epochs of the released probe; use strict");
  probe.lr = settings.probe_lr;
  probe.weight_decay = settings.probe_weight_decay;
  probe.epochs = settings.probe_epochs;
  facts.metric = "accuracy";
  facts.dedupe = options.dedupe;
  for (int64_t c = 0; c < graph.num_classes(); ++c)
    facts.classes.push_back(graph.class_names().empty() ? std::to_string(c) : graph.class_names()[c]);

  const auto nodes = std::make_shared<Nodes>(graph);
  nodes->splits = node_splits(graph, options, facts, notes);
  check_evaluable(nodes->splits);
  treat_twins(*nodes, facts, notes);
  facts.trained_share = trained_share(nodes->splits);
  facts.split_sizes = sizes_of(nodes->splits);
  const auto splits = static_cast<int64_t>(nodes->splits.size());
  if (!seeded && options.seeds > 1) throw usage_error("--seeds: the lbfgs probe starts at zero and has no seed");
  nodes->options.probe = probe;
  nodes->options.seeds = options.seeds > 0 ? options.seeds : seeded ? (kScores + splits - 1) / splits : 1;
  nodes->options.threads = context.threads;
  plan.subject = nodes;
  return plan;
}

}  // namespace graphpae::run
