#include "graphpae/run/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "graphpae/core/error.h"
#include "graphpae/core/options.h"
#include "graphpae/evaluate/random_splits.h"
#include "graphpae/model/representations.h"
#include "graphpae/run/evaluation_subject.h"

namespace graphpae::run {
namespace {

ProbedRows probe_model(const EvaluationPlan& plan, const std::string& what, Model& model, const ProbeRows& rows,
                       const Watch& watch, const RowObserver& observe = {}) {
  const auto probe = [&](const Features& embedded, const std::vector<Protocol>& protocols) {
    return plan.subject->probe(embedded, protocols, what, watch);
  };
  const auto seen = [&](Features embedded) {
    if (observe) observe(embedded);
    return embedded;
  };
  const std::vector<Protocol>& protocols = plan.facts.protocols;
  if (!rows.sampled || model.settings().batch_size == 0 || !asks_for(protocols, Protocol::paper))
    return probe(seen(rows.embedded(model)), protocols);
  ProbedRows paper = probe(rows.sampled(model), {Protocol::paper});
  if (!asks_for(protocols, Protocol::strict)) return paper;
  ProbedRows strict = probe(seen(rows.embedded(model)), {Protocol::strict});
  strict.scores.push_back(std::move(paper.scores.front()));
  return strict;
}

// The scores of several runs as one.
std::vector<ProtocolScores> joined(const std::vector<ProbedRows>& runs) {
  std::vector<ProtocolScores> all = runs.front().scores;
  for (size_t r = 1; r < runs.size(); ++r) {
    for (size_t p = 0; p < all.size(); ++p) all[p].append(runs[r].scores[p]);
  }
  return all;
}

// Percents of one row after another as percents of all of them.
class Portions {
 public:
  Portions(const Watch& watch, int64_t rows) : watch_(watch), rows_(rows) {}
  Watch next() {
    Watch portion = watch_;
    portion.progress = [this, first = done_](const ProgressReport& report) {
      const int64_t percent = (100 * first + report.done) / std::max<int64_t>(rows_, 1);
      watch_.report({"%", percent, 100, 0, report.note});
    };
    ++done_;
    return portion;
  }

 private:
  const Watch& watch_;
  int64_t rows_, done_ = 0;
};

}  // namespace

bool asks_for(const std::vector<Protocol>& protocols, Protocol protocol) {
  return std::find(protocols.begin(), protocols.end(), protocol) != protocols.end();
}

EvaluateOptions with_metric_of(EvaluateOptions options, const std::string& data) {
  if (options.metric != "auto" || options.protocol != "strict" || !(options.probe.empty() || options.probe == "tuned"))
    return options;
  std::filesystem::path path(data);
  if (path.filename().empty()) path = path.parent_path();
  for (const char* name : {"minesweeper", "tolokers", "questions"}) {
    if (path.filename() == name) options.metric = "roc_auc";
  }
  return options;
}

void read_choices(const EvaluateOptions& options, EvaluationPlan& plan) {
  using Protocols = std::vector<Protocol>;
  OptionTable table;
  table.add_choice<Protocols>(
      "--protocol", plan.facts.protocols,
      {{"strict", {Protocol::strict}}, {"paper", {Protocol::paper}}, {"both", {Protocol::strict, Protocol::paper}}},
      "");
  table.add_choice<bool>("--baselines", plan.baselines, {{"all", true}, {"none", false}}, "");
  table.set("--protocol", options.protocol);
  table.set("--baselines", options.baselines);
}

std::vector<Split> choose_splits(const EvaluateOptions& options, const SplitChoices& choices, EvaluationFacts& facts,
                                 std::vector<std::string>& notes) {
  std::string wanted = options.split.empty() ? "public" : options.split;
  bool stratified = options.stratified;
  if (options.split.empty() && choices.given.empty()) {
    wanted = choices.fallback;
    stratified = stratified || choices.stratified_fallback;
    notes.push_back(choices.fallback_note);
  }
  const bool random = wanted.starts_with("random:");
  if (wanted == "public" && choices.given.empty())
    throw data_error("--split public: the data have no " + choices.missing);
  if (wanted != "public" && !random && !(wanted == "scaffold" && choices.scaffold))
    throw usage_error(fmt::format("--split {}: expected {}", wanted, choices.expected));
  if (!random && (options.num_splits > 0 || options.split_seed >= 0 || options.stratified))
    throw usage_error(choices.random_flags + " need --split random:TRAIN/VAL/TEST");
  if (wanted == "public") {
    facts.split_source = "from the data";
    return choices.given;
  }
  if (wanted == "scaffold") {
    facts.split_source = "by scaffold";
    return {choices.scaffold()};
  }
  RandomSplitOptions drawn = naming("--split " + wanted, [&] { return parse_split_shares(wanted.substr(7)); });
  if (options.num_splits > 0) drawn.count = options.num_splits;
  drawn.stratified = stratified;
  drawn.seed = static_cast<uint64_t>(std::max<int64_t>(options.split_seed, 0));
  const size_t times = wanted.find('x');
  facts.split_source = fmt::format("random {}{}", wanted.substr(times == std::string::npos ? 7 : times + 1),
                                   stratified ? ", stratified" : "");
  facts.split_seed = drawn.seed;
  return random_splits(choices.labels(), drawn);
}

ProbeOptions EvaluationFacts::probe_of(Protocol protocol) const {
  ProbeOptions options = probe;
  if (protocol == Protocol::paper) options.kind = ProbeKind::adam;
  return options;
}

std::vector<std::array<int64_t, 3>> sizes_of(const std::vector<Split>& splits) {
  std::vector<std::array<int64_t, 3>> sizes;
  for (const Split& split : splits)
    sizes.push_back({static_cast<int64_t>(split.train.size()), static_cast<int64_t>(split.val.size()),
                     static_cast<int64_t>(split.test.size())});
  return sizes;
}

ProbeRows rows_of(const PreparedGraph& input, const InputOptions& options) {
  graphpae::EmbedOptions sampled;
  sampled.sampled = true;
  return {[&](Model& model) { return embedded_rows(model, input); },
          [&input, sampled](Model& model) { return embedded_rows(model, input, sampled); },
          [&](const Settings& settings) { return raw_position_rows(*input.graph, settings, input, options); }};
}

ProbeRows rows_of(const std::shared_ptr<const MoleculeInputs>& input, const InputOptions&) {
  return {[&](Model& model) { return embedded_rows(model, input); }};
}

EvaluationTable run_evaluation(const EvaluationPlan& plan, const std::vector<std::shared_ptr<Model>>& models,
                               const ProbeRows& rows, const Watch& watch, const RowObserver& observe) {
  const Settings& settings = models.front()->settings();
  const EvaluationSubject& subject = *plan.subject;
  const std::vector<Protocol>& protocols = plan.facts.protocols;
  const bool curves = !plan.labels_per_class.empty(), positions = rows.raw_positions && settings.eigenvectors > 0;
  const std::vector<std::string> names =
      plan.baselines && asks_for(protocols, Protocol::strict) ? subject.block_names() : std::vector<std::string>();
  const auto count = static_cast<int64_t>(models.size());
  Portions portions(watch, plan.baselines ? 2 * count + 2 + static_cast<int64_t>(names.size()) : count);

  EvaluationTable table{plan.facts, {}, {}, {}, {}};
  std::vector<std::shared_ptr<const Features>> kept;  // what curves are drawn of
  std::vector<CurveRow> drawn;
  std::vector<ProbedBlock> blocks;
  const auto keep = [&](const std::string& key, const std::string& title, std::shared_ptr<const Features> features,
                        bool rotated) {
    if (!curves) return;
    if (drawn.empty() || drawn.back().key != key) drawn.push_back({key, title, {}});
    drawn.back().rows.push_back({features.get(), 1, rotated});
    kept.push_back(std::move(features));
  };
  const auto probe_models = [&](const std::string& key, const std::string& title, const auto& model_of,
                                const RowObserver& see) {
    std::vector<ProbedRows> runs;
    for (const auto& model : models) {
      runs.push_back(probe_model(plan, title, *model_of(model), rows, portions.next(), [&](const Features& embedded) {
        if (see && runs.empty()) see(embedded);
        if (curves) keep(key, title, std::make_shared<const Features>(embedded), false);
      }));
    }
    table.rows.push_back({key, title, joined(runs)});
    return runs;
  };
  const auto probe_rows = [&](const std::string& key, const std::string& title, const std::string& block,
                              Features features) {
    const auto own = std::make_shared<const Features>(std::move(features));
    ProbedRows probed = subject.probe(*own, protocols, title, portions.next());
    table.rows.push_back({key, title, probed.scores});
    keep(key, title, own, false);
    // Rows of this name are a block as well.
    if (std::find(names.begin(), names.end(), block) != names.end())
      blocks.push_back({block, title, std::move(probed)});
  };

  const std::vector<ProbedRows> embeddings = probe_models(
      "embeddings", "embeddings", [](const auto& model) { return model; }, observe);
  if (plan.baselines) {
    probe_models("untrained", "untrained encoder", [](const auto& model) { return untrained(*model); }, {});
    probe_rows("raw_features", "raw features", "features", subject.raw_features(settings));
    if (positions) probe_rows("raw_positions", "raw positions", "positions", rows.raw_positions(settings));
    table.rows.push_back({"majority", subject.constant_title(), subject.constant(protocols)});
  }
  for (const std::string& name : names) {
    const auto known = [&](const ProbedBlock& block) { return block.key == name; };
    if (std::any_of(blocks.begin(), blocks.end(), known)) continue;
    const Watch portion = portions.next();
    portion.report({"%", 0, 100, 0, name});
    const Block block = subject.block(name);
    ProbedRows probed = subject.probe_block(block, portion);
    table.blocks.push_back({name, name, probed.scores});
    keep(name, name, block.rows, block.rotated);
    blocks.push_back({name, name, std::move(probed)});
  }
  if (!blocks.empty() && embeddings.front().combinable()) table.verdict = judge(plan, embeddings, blocks);
  if (curves) table.few_labels = subject.few_labels(drawn, plan.labels_per_class, watch);
  return table;
}

EvaluationRow against_row(const EvaluationPlan& plan, const std::string& name, Model& model, const ProbeRows& rows,
                          const Watch& watch) {
  return {kAgainst, name, probe_model(plan, kAgainst, model, rows, watch).scores};
}

}  // namespace graphpae::run
