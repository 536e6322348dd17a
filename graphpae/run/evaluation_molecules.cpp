// Evaluation of molecules: a property each task, by evaluate/graph_protocols.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/data/scaffold_split.h"
#include "graphpae/evaluate/graph_protocols.h"
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

  std::vector<ProtocolScores> probe(const Features& rows, const std::vector<Protocol>& protocols,
                                    const std::string& what, const Watch& watch) const override {
    const auto count = static_cast<int64_t>(splits.size());
    return over_splits(protocols, [&](int64_t s, GraphEvaluateOptions& asked) {
      asked.progress = [&, s](int64_t done, int64_t total) {
        watch.report({"probe fits", std::min(s * total + done, count * total), count * total, 0, what});
      };
      return evaluate_graphs(rows, targets, splits[s], asked);
    });
  }
  std::vector<ProtocolScores> constant(const std::vector<Protocol>& protocols) const override {
    return over_splits(protocols, [&](int64_t s, const GraphEvaluateOptions& asked) {
      return evaluate_constant(targets, splits[s], asked);
    });
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

 private:
  template <class Evaluate>
  std::vector<ProtocolScores> over_splits(const std::vector<Protocol>& protocols, const Evaluate& evaluate) const {
    std::vector<ProtocolScores> scores(protocols.size());
    for (size_t s = 0; s < splits.size(); ++s) {
      GraphEvaluateOptions asked = with(options, protocols);
      const GraphEvaluation of_split = evaluate(static_cast<int64_t>(s), asked);
      for (size_t p = 0; p < protocols.size(); ++p)
        add_split(scores[p], protocols[p] == Protocol::strict ? *of_split.strict : *of_split.paper);
    }
    return scores;
  }
};

void refuse_options_of_one_graph(const EvaluateOptions& options) {
  const auto refuse = [](bool given, const char* flag, const char* instead) {
    if (given) throw usage_error(fmt::format("{} is for one graph: {}", flag, instead));
  };
  refuse(!options.probe.empty(), "--probe", "the probe of molecules is ridge or logistic regression, by their labels");
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
  plan.subject = molecules;
  return plan;
}

}  // namespace graphpae::run
