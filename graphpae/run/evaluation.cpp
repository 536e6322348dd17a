#include "graphpae/run/evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/core/options.h"
#include "graphpae/evaluate/random_splits.h"
#include "graphpae/model/representations.h"
#include "graphpae/run/evaluation_subject.h"

namespace graphpae::run {
namespace {

std::vector<ProtocolScores> probe_model(const EvaluationPlan& plan, const std::string& what, Model& model,
                                        const ProbeRows& rows, const Watch& watch, const RowObserver& observe = {}) {
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
  std::vector<ProtocolScores> paper = probe(rows.sampled(model), {Protocol::paper});
  if (!asks_for(protocols, Protocol::strict)) return paper;
  std::vector<ProtocolScores> scores = probe(seen(rows.embedded(model)), {Protocol::strict});
  scores.push_back(std::move(paper.front()));
  return scores;
}

}  // namespace

bool asks_for(const std::vector<Protocol>& protocols, Protocol protocol) {
  return std::find(protocols.begin(), protocols.end(), protocol) != protocols.end();
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
  const std::vector<Protocol>& protocols = plan.facts.protocols;
  EvaluationTable table{plan.facts, {}};
  const auto add = [&](const std::string& key, const std::string& title, std::vector<ProtocolScores> scores) {
    table.rows.push_back({key, title, std::move(scores)});
  };
  const auto probe_models = [&](const std::string& what, const auto& model_of, const RowObserver& see) {
    std::vector<ProtocolScores> joined;
    for (const auto& model : models) {
      auto scores = probe_model(plan, what, *model_of(model), rows, watch, joined.empty() ? see : RowObserver());
      for (size_t p = 0; p < joined.size(); ++p) joined[p].append(scores[p]);
      if (joined.empty()) joined = std::move(scores);
    }
    return joined;
  };
  const auto itself = [](const std::shared_ptr<Model>& model) { return model; };
  const auto unlearnt = [](const std::shared_ptr<Model>& model) { return untrained(*model); };
  add("embeddings", "embeddings", probe_models("embeddings", itself, observe));
  if (!plan.baselines) return table;
  add("untrained", "untrained encoder", probe_models("untrained encoder", unlearnt, {}));
  add("raw_features", "raw features",
      plan.subject->probe(plan.subject->raw_features(settings), protocols, "raw features", watch));
  if (rows.raw_positions && settings.eigenvectors > 0)
    add("raw_positions", "raw positions",
        plan.subject->probe(rows.raw_positions(settings), protocols, "raw positions", watch));
  add("majority", plan.subject->constant_title(), plan.subject->constant(protocols));
  return table;
}

EvaluationRow against_row(const EvaluationPlan& plan, const std::string& name, Model& model, const ProbeRows& rows,
                          const Watch& watch) {
  return {kAgainst, name, probe_model(plan, kAgainst, model, rows, watch)};
}

}  // namespace graphpae::run
