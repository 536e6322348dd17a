#include "graphpae/cli/molecule_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/cli/progress.h"
#include "graphpae/core/error.h"
#include "graphpae/data/scaffold_split.h"
#include "graphpae/evaluate/random_splits.h"

namespace graphpae::cli {
namespace {

constexpr int64_t kRandomSplits = 10;  // unless --num-splits says otherwise

bool has_atoms(const GraphSet& set, int64_t molecule) {
  return set.parts().node_offsets[molecule] < set.parts().node_offsets[molecule + 1];
}

void refuse_flags_of_one_graph(const EvaluateFlags& flags) {
  const auto refuse = [](bool given, const char* flag, const char* instead) {
    if (given) throw usage_error(fmt::format("{} is for one graph: {}", flag, instead));
  };
  refuse(!flags.probe.empty(), "--probe", "the probe of molecules is ridge or logistic regression, by their labels");
  refuse(flags.seeds > 0, "--seeds", "the probe of molecules has no seed; --also joins runs with other seeds");
  refuse(flags.stratified, "--stratified", "molecules may have many tasks");
  refuse(flags.dedupe, "--dedupe", "twins are nodes");
}

// Molecules that a random split shares out: those with atoms and at least one label.
std::vector<int32_t> labelled_molecules(const GraphSet& set, const GraphTargets& targets) {
  std::vector<int32_t> labels(static_cast<size_t>(set.num_graphs()), -1);
  for (int64_t g = 0; g < set.num_graphs(); ++g) {
    for (int64_t t = 0; t < targets.tasks() && has_atoms(set, g); ++t) {
      if (!std::isnan(targets.at(g, t))) labels[g] = 0;
    }
  }
  return labels;
}

void choose_splits(MoleculePlan& plan, const EvaluateFlags& flags, std::vector<std::string>& notes) {
  const bool given = !plan.set.parts().splits.empty();
  std::string wanted = flags.split.empty() ? "public" : flags.split;
  if (flags.split.empty() && !given) {
    wanted = "scaffold";
    notes.push_back("the data have no split: molecules are split 80/10/10 by scaffold");
  }
  const bool random = wanted.starts_with("random:");
  if (!random && (flags.num_splits > 0 || flags.split_seed >= 0))
    throw usage_error("--num-splits and --split-seed need --split random:TRAIN/VAL/TEST");
  if (wanted == "public") {
    if (!given)
      throw data_error("--split public: the data have no split; --split scaffold or random:80/10/10 makes one");
    plan.splits = plan.set.parts().splits;
    plan.split_source = "from the data";
  } else if (wanted == "scaffold") {
    plan.splits = {scaffold_split(plan.set, plan.options.threads)};
    plan.split_source = "by scaffold";
  } else if (random) {
    RandomSplitOptions options = naming("--split " + wanted, [&] { return parse_split_shares(wanted.substr(7)); });
    options.count = flags.num_splits > 0 ? flags.num_splits : kRandomSplits;
    options.seed = static_cast<uint64_t>(std::max<int64_t>(flags.split_seed, 0));
    plan.splits = random_splits(labelled_molecules(plan.set, plan.targets), options);
    plan.split_source = fmt::format("random {}", wanted.substr(7));
  } else {
    throw usage_error(
        fmt::format("--split {}: expected public, scaffold or random:TRAIN/VAL/TEST, such as random:80/10/10", wanted));
  }
}

// Loading and splitting leave molecules without atoms out of every part.
void check_plan(const MoleculePlan& plan) {
  for (size_t s = 0; s < plan.splits.size(); ++s)
    naming(fmt::format("split {}", s), [&] { check_evaluable(plan.targets, plan.splits[s], plan.options); });
}

void count_training_labels(MoleculePlan& plan) {
  for (const Split& split : plan.splits) {
    for (const int32_t id : split.train) {
      for (int64_t t = 0; t < plan.targets.tasks(); ++t) {
        ++plan.training_labels;
        plan.missing_labels += std::isnan(plan.targets.at(id, t)) ? 1 : 0;
      }
    }
  }
}

// On every split.
std::vector<GraphEvaluation> probe_rows(const MoleculePlan& plan, const std::string& what, const Features& rows,
                                        const Common& common) {
  const auto splits = static_cast<int64_t>(plan.splits.size());
  std::vector<GraphEvaluation> result;
  std::unique_ptr<Progress> progress;
  for (int64_t s = 0; s < splits; ++s) {
    GraphEvaluateOptions options = plan.options;
    options.progress = [&](int64_t done, int64_t total) {
      if (!progress) progress = std::make_unique<Progress>(common, "probe fits", splits * total);
      progress->update(std::min(s * total + done, splits * total), what);
    };
    result.push_back(evaluate_graphs(rows, plan.targets, plan.splits[s], options));
  }
  return result;
}

// runs [runs][splits] as [splits, runs].
std::vector<GraphEvaluation> by_split(const std::vector<std::vector<GraphEvaluation>>& runs) {
  std::vector<GraphEvaluation> result;
  for (size_t s = 0; s < runs.front().size(); ++s) {
    for (const auto& run : runs) result.push_back(run[s]);
  }
  return result;
}

}  // namespace

MoleculePlan plan_evaluation(const GraphSet& set, const Settings&, const EvaluateFlags& flags, const Common& common,
                             std::vector<std::string>& notes) {
  refuse_flags_of_one_graph(flags);
  if (set.num_tasks() == 0)
    throw data_error("the data have no labels: nothing to evaluate; --tasks names columns of them");
  MoleculePlan plan{set, {set.parts().task_names, set.parts().targets}, GraphMetric::rmse, {}, {}, {}};
  plan.metric = graph_metric(plan.targets);
  const Protocols protocols = parse_protocols(flags.protocol);
  plan.options.strict = protocols.strict;
  plan.options.paper = protocols.paper;
  plan.baselines = wants_baselines(flags);
  plan.options.threads = common.thread_count();
  choose_splits(plan, flags, notes);
  check_plan(plan);
  count_training_labels(plan);
  return plan;
}

std::vector<MoleculeRow> run_evaluation(const MoleculePlan& plan, const std::vector<std::shared_ptr<GraphPae>>& models,
                                        const std::shared_ptr<const MoleculeInputs>& input, const InputOptions&,
                                        const Common& common, const RowObserver& observe) {
  const auto probe_models = [&](const std::string& what, const auto& rows_of) {
    std::vector<std::vector<GraphEvaluation>> runs;
    for (const auto& model : models) runs.push_back(probe_rows(plan, what, rows_of(*model), common));
    return by_split(runs);
  };
  std::vector<MoleculeRow> rows;
  rows.push_back({"embeddings", "embeddings", probe_models("embeddings", [&](GraphPae& model) {
                    Features embedded = embedded_rows(model, *input);
                    if (observe && &model == models.front().get()) observe(embedded);
                    return embedded;
                  })});
  if (!plan.baselines) return rows;
  rows.push_back({"untrained", "untrained encoder", probe_models("untrained encoder", [&](GraphPae& model) {
                    return embedded_rows(*untrained(model), *input);
                  })});
  rows.push_back({"raw_features", "raw features",
                  probe_rows(plan, "raw features", raw_feature_rows(plan.set, models.front()->settings()), common)});
  rows.push_back({"majority", plan.metric == GraphMetric::rmse ? "mean of the labels" : "constant score", {}});
  for (const Split& split : plan.splits)
    rows.back().evaluations.push_back(evaluate_constant(plan.targets, split, plan.options));
  return rows;
}

MoleculeRow against_row(const MoleculePlan& plan, const std::string& name, GraphPae& model, const InputOptions& options,
                        const Common& common) {
  const auto input = prepare(plan.set, model.settings(), options);
  return {kAgainst, name, probe_rows(plan, kAgainst, embedded_rows(model, *input), common)};
}

}  // namespace graphpae::cli
