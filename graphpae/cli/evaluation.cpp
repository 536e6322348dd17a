#include "graphpae/cli/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "graphpae/cli/progress.h"
#include "graphpae/core/error.h"
#include "graphpae/data/twins.h"
#include "graphpae/evaluate/random_splits.h"

namespace graphpae::cli {
namespace {

constexpr int64_t kScores = 10;  // splits x seeds, at least, unless --seeds says otherwise

void choose_splits(EvaluationPlan& plan, const EvaluateFlags& flags, std::vector<std::string>& notes) {
  const std::vector<int32_t>& labels = plan.graph.labels();
  const bool given = !plan.graph.splits().empty();
  const int64_t count = flags.num_splits > 0 ? flags.num_splits : 10;
  std::string wanted = flags.split;
  if (wanted.empty() && !given) {
    wanted = "random:60/20/20";
    notes.push_back(fmt::format("the data have no splits: {} random ones of 60/20/20 are drawn", count));
  }
  if (wanted.empty() || wanted == "public") {
    if (!given) throw data_error("--split public: the data have no splits; --split random:60/20/20 draws some");
    if (flags.num_splits > 0 || flags.split_seed >= 0 || flags.stratified)
      throw usage_error("--num-splits, --split-seed and --stratified need --split random:TRAIN/VAL/TEST");
    plan.splits = labelled_only(plan.graph.splits(), labels);
    plan.split_source = "from the data";
  } else if (wanted.starts_with("random:")) {
    RandomSplitOptions random = naming("--split " + wanted, [&] { return parse_split_shares(wanted.substr(7)); });
    random.count = count;
    random.stratified = flags.stratified;
    random.seed = static_cast<uint64_t>(std::max<int64_t>(flags.split_seed, 0));
    plan.splits = random_splits(labels, random);
    plan.split_source = fmt::format("random {}{}", wanted.substr(7), flags.stratified ? ", stratified" : "");
  } else {
    throw usage_error(fmt::format("--split {}: expected public or random:TRAIN/VAL/TEST, such as random:60/20/20{}",
                                  wanted, wanted == "scaffold" ? "; scaffold is for molecules" : ""));
  }
}

// Counts test nodes that training gives away, and drops them if asked to.
void treat_twins(EvaluationPlan& plan, bool dedupe, std::vector<std::string>& notes) {
  const Twins twins = find_twins(plan.graph);
  plan.dedupe = dedupe;
  for (size_t s = 0; s < plan.splits.size(); ++s) {
    std::vector<int32_t>& test = plan.splits[s].test;
    plan.test_nodes += static_cast<int64_t>(test.size());
    const std::vector<int32_t> found = twins_of_trained(twins, plan.splits[s]);
    plan.test_twins += static_cast<int64_t>(found.size());
    if (!dedupe) continue;
    const std::unordered_set<int32_t> dropped(found.begin(), found.end());
    std::erase_if(test, [&](int32_t node) { return dropped.contains(node); });
    if (test.empty()) throw data_error(fmt::format("--dedupe: split {} has no test node left", s));
  }
  if (plan.test_twins == 0) return;
  notes.push_back(fmt::format("{} of {} test nodes ({} splits) share features and neighbourhood with a training node{}",
                              plan.test_twins, plan.test_nodes, plan.splits.size(),
                              dedupe ? " and are left out" : "; --dedupe evaluates without them"));
}

// Scores under the paper protocol come from embeddings made as released: from samples, for a model trained on them.
Evaluation probe_model(const EvaluationPlan& plan, const std::string& what, GraphPae& model, const PreparedGraph& input,
                       const Common& common, const RowObserver& observe = {}) {
  const auto seen = [&](Features rows) {
    if (observe) observe(rows);
    return rows;
  };
  if (model.settings().batch_size == 0 || !plan.options.paper)
    return probe_rows(plan, what, seen(embedded_rows(model, input)), common);
  EvaluationPlan paper = plan, strict = plan;
  paper.options.strict = strict.options.paper = false;
  EmbedOptions sampled;
  sampled.sampled = true;
  Evaluation all = probe_rows(paper, what, embedded_rows(model, input, sampled), common);
  if (!plan.options.strict) return all;
  Evaluation exact = probe_rows(strict, what, seen(embedded_rows(model, input)), common);
  exact.paper = std::move(all.paper);
  exact.unconverged += all.unconverged;
  return exact;
}

void join(Evaluation& into, const Evaluation& other) {
  if (into.strict) into.strict->append(*other.strict);
  if (into.paper) into.paper->append(*other.paper);
  into.unconverged += other.unconverged;
}

}  // namespace

void add_evaluate_flags(CLI::App& app, EvaluateFlags& flags, CLI::Option* switch_flag) {
  const auto add = [&](CLI::Option* option) {
    option->group("Evaluation");
    if (switch_flag != nullptr) option->needs(switch_flag);
    return option;
  };
  const CLI::Range count(int64_t{1}, int64_t{100000});
  add(app.add_option("--protocol", flags.protocol, "strict, paper (as released: inflated on one graph) or both")
          ->capture_default_str());
  add(app.add_option("--baselines", flags.baselines, "all, or none: probe the embeddings only")->capture_default_str());
  add(app.add_option("--probe", flags.probe,
                     "adam (as released, default) or lbfgs (converged, penalty chosen by validation)"));
  add(app.add_option("--split", flags.split,
                     "public: those of the data (default if any); random:60/20/20: drawn; scaffold: molecules"));
  add(app.add_option("--num-splits", flags.num_splits, "how many random splits (default: 10)")->check(count));
  add(app.add_option("--split-seed", flags.split_seed, "seed of random splits (default: 0)")
          ->check(CLI::NonNegativeNumber));
  add(app.add_flag("--stratified", flags.stratified, "random splits keep the shares of the classes"));
  add(app.add_option("--seeds", flags.seeds, "probes per split (default: until splits x seeds is ten)")->check(count));
  add(app.add_flag("--dedupe", flags.dedupe, "leave out test nodes that have a twin in training"));
}

Protocols parse_protocols(const std::string& text) {
  enum class Asked { strict, paper, both };
  const Asked asked =
      choose<Asked>("--protocol", text, {{"strict", Asked::strict}, {"paper", Asked::paper}, {"both", Asked::both}});
  return {asked != Asked::paper, asked != Asked::strict};
}

bool wants_baselines(const EvaluateFlags& flags) {
  return choose<bool>("--baselines", flags.baselines, {{"all", true}, {"none", false}});
}

EvaluationPlan plan_evaluation(const Graph& graph, const Settings& settings, const EvaluateFlags& flags,
                               const Common& common, std::vector<std::string>& notes) {
  EvaluationPlan plan{graph, {}, {}, {}};
  if (graph.labels().empty())
    throw data_error("the data have no labels: nothing to evaluate; --labels names a file of them");
  if (graph.num_classes() < 2)
    throw data_error(fmt::format("the labels have {} class: nothing to tell apart", graph.num_classes()));
  const Protocols protocols = parse_protocols(flags.protocol);
  plan.options.strict = protocols.strict;
  plan.options.paper = protocols.paper;
  plan.baselines = wants_baselines(flags);
  plan.options.probe.kind = choose<ProbeKind>("--probe", flags.probe.empty() ? "adam" : flags.probe,
                                              {{"adam", ProbeKind::adam}, {"lbfgs", ProbeKind::lbfgs}});
  if (plan.options.paper && plan.options.probe.kind != ProbeKind::adam)
    throw usage_error("--probe lbfgs: the paper protocol chooses among the epochs of the released probe; use strict");
  plan.options.probe.lr = settings.probe_lr;
  plan.options.probe.weight_decay = settings.probe_weight_decay;
  plan.options.probe.epochs = settings.probe_epochs;
  plan.options.threads = common.thread_count();
  choose_splits(plan, flags, notes);
  check_evaluable(plan.splits);
  treat_twins(plan, flags.dedupe, notes);
  const auto splits = static_cast<int64_t>(plan.splits.size());
  const bool seeded = plan.options.probe.kind == ProbeKind::adam;
  if (!seeded && flags.seeds > 1) throw usage_error("--seeds: the lbfgs probe starts at zero and has no seed");
  plan.options.seeds = flags.seeds > 0 ? flags.seeds : seeded ? (kScores + splits - 1) / splits : 1;
  return plan;
}

Evaluation probe_rows(const EvaluationPlan& plan, const std::string& what, const Features& rows, const Common& common) {
  EvaluateOptions options = plan.options;
  std::unique_ptr<Progress> progress;
  options.progress = [&](int64_t done, int64_t total) {
    if (!progress) progress = std::make_unique<Progress>(common, "probe steps", total);
    progress->update(done, what);
  };
  return graphpae::evaluate(rows, plan.graph.labels(), plan.graph.num_classes(), plan.splits, options);
}

std::vector<EvaluationRow> run_evaluation(const EvaluationPlan& plan,
                                          const std::vector<std::shared_ptr<GraphPae>>& models,
                                          const PreparedGraph& input, const InputOptions& options, const Common& common,
                                          const RowObserver& observe) {
  const Settings& settings = models.front()->settings();
  const auto probe = [&](const std::string& what, const Features& features) {
    return probe_rows(plan, what, features, common);
  };
  const auto probe_models = [&](const std::string& what, const auto& model_of, const RowObserver& seen) {
    Evaluation joined = probe_model(plan, what, *model_of(models.front()), input, common, seen);
    for (size_t m = 1; m < models.size(); ++m)
      join(joined, probe_model(plan, what, *model_of(models[m]), input, common));
    return joined;
  };
  std::vector<EvaluationRow> rows;
  rows.push_back({"embeddings", "embeddings",
                  probe_models(
                      "embeddings", [](const auto& model) { return model; }, observe)});
  if (!plan.baselines) return rows;
  rows.push_back({"untrained", "untrained encoder",
                  probe_models("untrained encoder", [](const auto& model) { return untrained(*model); }, {})});
  rows.push_back({"raw_features", "raw features", probe("raw features", raw_feature_rows(plan.graph, settings))});
  rows.push_back({"raw_positions", "raw positions",
                  probe("raw positions", raw_position_rows(plan.graph, settings, input, options))});
  rows.push_back({"majority", "majority class",
                  evaluate_majority(plan.graph.labels(), plan.graph.num_classes(), plan.splits, plan.options)});
  return rows;
}

EvaluationRow against_row(const EvaluationPlan& plan, const std::string& name, GraphPae& model,
                          const InputOptions& options, const Common& common) {
  const PreparedGraph input = prepare(plan.graph, model.settings(), options);
  return {kAgainst, name, probe_model(plan, kAgainst, model, input, common)};
}

}  // namespace graphpae::cli
