#include "graphpae/cli/evaluation_table.h"

#include <fmt/format.h>

#include "graphpae/cli/score_table.h"

namespace graphpae::cli {
namespace {

const ProtocolScores& scores_of(const EvaluationRow& row, Protocol protocol) {
  return protocol == Protocol::strict ? *row.evaluation.strict : *row.evaluation.paper;
}

Json protocol_json(const EvaluationPlan& plan, const std::vector<EvaluationRow>& rows, Protocol protocol) {
  const ProtocolScores& scores = scores_of(rows.front(), protocol);
  Json json = {{"protocol", protocol == Protocol::strict ? "strict" : "paper"}, {"metric", "accuracy"}};
  json.update(statistics_json(scores.summary()));
  json["val"] = statistics(scores.validation).mean;
  json["macro_f1"] = scores.confusion.macro_f1();
  json["splits"] = scores.splits;
  json["seeds"] = scores.seeds;
  json["per_split"] = scores.per_split();
  for (int64_t s = 0; s < scores.splits; ++s) {
    Json each = Json::array(), chosen = Json::array();
    for (int64_t k = s * scores.seeds; k < (s + 1) * scores.seeds; ++k) {
      each.push_back(scores.accuracies[k]);
      chosen.push_back(candidate_name(plan.options.probe, scores.chosen[k]));
    }
    json["per_split_and_seed"].push_back(each);
    json["chosen"].push_back(chosen);
  }
  json["baselines"] = Json::object();
  for (size_t r = 1; r < rows.size(); ++r) {
    const ProtocolScores& other = scores_of(rows[r], protocol);
    if (rows[r].key != kAgainst) {
      json["baselines"][rows[r].key] = statistics_json(other.summary());
      continue;
    }
    const PairedDifference paired = compare(scores, other);
    json[kAgainst] = {{"run", rows[r].title}};
    json[kAgainst].update(statistics_json(other.summary()));
    json[kAgainst]["per_split"] = other.per_split();
    json[kAgainst]["difference"] = statistics_json(paired.difference);
    json[kAgainst]["pairs"] = paired.pairs;
    json[kAgainst]["better"] = paired.better;
  }
  if (protocol == Protocol::paper) {
    json["inflated"] = true;
    json["pooled_test_trained_on"] = trained_share(plan.splits);
  }
  const std::vector<std::string>& names = plan.graph.class_names();
  for (int64_t c = 0; c < plan.graph.num_classes(); ++c) {
    const auto score = scores.confusion.class_score(c);
    json["classes"].push_back({{"class", names.empty() ? std::to_string(c) : names[c]},
                               {"support", score.support},
                               {"precision", score.precision},
                               {"recall", score.recall},
                               {"f1", score.f1}});
    Json counts = Json::array();
    for (int64_t d = 0; d < plan.graph.num_classes(); ++d) counts.push_back(scores.confusion.count(c, d));
    json["confusion"].push_back(counts);
  }
  return json;
}

}  // namespace

Json evaluation_json(const EvaluationPlan& plan, const std::vector<EvaluationRow>& rows) {
  // The honest numbers come first; inflated ones are never at the top unless nothing else was asked for.
  Json json = protocol_json(plan, rows, plan.options.strict ? Protocol::strict : Protocol::paper);
  if (plan.options.strict && plan.options.paper) json["paper"] = protocol_json(plan, rows, Protocol::paper);
  const ProbeOptions& probe = plan.options.probe;
  if (probe.kind == ProbeKind::adam)
    json["probe"] = {
        {"kind", "adam"}, {"lr", probe.lr}, {"weight_decay", probe.weight_decay}, {"epochs", probe.epochs}};
  else
    json["probe"] = {{"kind", "lbfgs"}, {"unconverged", rows.front().evaluation.unconverged}};
  json["split_source"] = plan.split_source;
  json["test_nodes"] = plan.test_nodes;
  json["test_twins"] = plan.test_twins;
  json["dedupe"] = plan.dedupe;
  return json;
}

std::string evaluation_text(const EvaluationPlan& plan, const std::vector<EvaluationRow>& rows) {
  const bool strict = plan.options.strict, paper = plan.options.paper;
  const ProtocolScores& scores = scores_of(rows.front(), strict ? Protocol::strict : Protocol::paper);
  std::string text =
      fmt::format("accuracy in %, {} split{} ({}) x {} seed{}, {} classes{}\n\n", scores.splits,
                  scores.splits == 1 ? "" : "s", plan.split_source, scores.seeds, scores.seeds == 1 ? "" : "s",
                  plan.graph.num_classes(), plan.dedupe ? ", without twins of training nodes" : "");
  std::vector<std::string> heads;
  if (strict) heads.push_back("strict");
  if (paper) heads.push_back("paper (INFLATED)");
  std::vector<ScoreRow> lines;
  for (const EvaluationRow& row : rows) {
    lines.push_back({row.key == kAgainst ? "against" : row.title, {}});
    if (strict) lines.back().columns.push_back(row.evaluation.strict->summary());
    if (paper) lines.back().columns.push_back(row.evaluation.paper->summary());
  }
  text += score_table(heads, lines, {}) + "\n";
  const auto compare_with = [&](const EvaluationRow& row, Protocol protocol) {
    const PairedDifference paired = compare(scores_of(rows.front(), protocol), scores_of(row, protocol));
    text += difference_line(protocol == Protocol::strict ? "strict" : "paper", paired.difference, row.title,
                            paired.better, paired.pairs, {});
  };
  for (const EvaluationRow& row : rows) {
    if (row.key != kAgainst) continue;
    if (strict) compare_with(row, Protocol::strict);
    if (paper) compare_with(row, Protocol::paper);
  }
  if (strict) text += "strict: chosen by validation, tested once on the test nodes of the same split\n";
  if (paper) {
    text += fmt::format(
        "paper:  INFLATED, for comparison with the paper only: {:.1f} % of its pooled test\n"
        "        nodes were trained on, and the best test accuracy among equal validation\n"
        "        accuracies is taken\n",
        100 * trained_share(plan.splits));
  }
  if (plan.test_twins > 0 && !plan.dedupe) {
    text +=
        fmt::format("twins:  {} of {} test nodes share features and neighbourhood with a training node (--dedupe)\n",
                    plan.test_twins, plan.test_nodes);
  }
  if (const int64_t open = rows.front().evaluation.unconverged; open > 0)
    text += fmt::format("probe:  {} optimisations ran out of steps\n", open);
  return text;
}

}  // namespace graphpae::cli
