#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "graphpae/evaluate/cross_validation.h"
#include "graphpae/run/evaluation.h"

namespace graphpae::run {
namespace {

using Json = nlohmann::ordered_json;

Json task_json(const EvaluationTable& table, size_t protocol, size_t task) {
  const TaskScores& own = table.rows.front().scores[protocol].tasks[task];
  Json json = {{"task", table.facts.tasks[task]},
               {"mean", or_null(mean_of(own.test))},
               {"val", or_null(mean_of(own.validation))}};
  for (const auto& score : own.test) json["per_split_and_seed"].push_back(or_null(score));
  for (const auto& penalty : own.penalties) json["penalties"].push_back(or_null(penalty));
  for (size_t r = 1; r < table.rows.size(); ++r)
    json[table.rows[r].key] = or_null(mean_of(table.rows[r].scores[protocol].tasks[task].test));
  return json;
}

void add_classes(Json& json, const Confusion& confusion, const std::vector<std::string>& names) {
  for (int64_t c = 0; c < confusion.classes(); ++c) {
    const ClassScore score = confusion.class_score(c);
    json["classes"].push_back({{"class", names[c]},
                               {"support", score.support},
                               {"precision", score.precision},
                               {"recall", score.recall},
                               {"f1", score.f1}});
    Json counts = Json::array();
    for (int64_t d = 0; d < confusion.classes(); ++d) counts.push_back(confusion.count(c, d));
    json["confusion"].push_back(counts);
  }
}

Json block_json(const ProtocolScores& scores) {
  Json json = statistics_json(scores.summary());
  json["val"] = or_null(mean_of(scores.validation));
  json["per_split"] = scores.per_split();
  return json;
}

// The first protocol is the strict one.
void add_blocks(Json& json, const EvaluationTable& table) {
  if (!table.verdict) return;
  const BlockVerdict& verdict = *table.verdict;
  Json blocks = Json::object();
  for (const EvaluationRow& row : table.rows) {
    if (row.key == "raw_features") blocks["features"] = block_json(row.scores.front());
    if (row.key == "raw_positions") blocks["positions"] = block_json(row.scores.front());
  }
  for (const EvaluationRow& row : table.blocks) blocks[row.key] = block_json(row.scores.front());
  if (table.facts.of_molecules()) blocks.erase("features");
  json["blocks"] = blocks;
  json["best_block"] = verdict.best;
  json["combination"] = block_json(verdict.combination);
  json["with_embeddings"] = block_json(verdict.together);
  json["adds"] = statistics_json(verdict.adds.difference);
  json["adds"]["pairs"] = verdict.adds.pairs;
  json["adds"]["better"] = verdict.adds.better;
  json["verdict"] = verdict.sentence;
}

void add_few_labels(Json& json, const EvaluationTable& table) {
  if (!table.few_labels) return;
  const FewLabels& curves = *table.few_labels;
  for (size_t k = 0; k < curves.per_class.size(); ++k) {
    Json rows = Json::object();
    for (const FewLabels::Row& row : curves.rows) {
      rows[row.key] = statistics_json(row.scores[k].summary());
      rows[row.key]["title"] = row.title;
      rows[row.key]["per_split"] = row.scores[k].per_split();
    }
    json["few_labels"].push_back(
        {{"labels_per_class", curves.per_class[k] > 0 ? Json(curves.per_class[k]) : Json("all")},
         {"draws", curves.draws[k]},
         {"rows", rows}});
  }
}

void add_other_rows(Json& json, const EvaluationTable& table, size_t protocol) {
  json["baselines"] = Json::object();
  for (size_t r = 1; r < table.rows.size(); ++r) {
    const EvaluationRow& row = table.rows[r];
    const ProtocolScores& other = row.scores[protocol];
    const ProtocolScores& own = table.rows.front().scores[protocol];
    if (row.key != kAgainst) {
      json["baselines"][row.key] = statistics_json(other.summary());
      if (!other.validation.empty()) json["baselines"][row.key]["val"] = or_null(mean_of(other.validation));
      // How much better or worse the embeddings are, where every score has its counterpart.
      if (own.splits > 1 || own.test.size() == other.test.size())
        json["baselines"][row.key]["difference"] =
            statistics_json(compare(own, other, table.facts.errors()).difference);
      continue;
    }
    const PairedDifference paired = compare(own, other, table.facts.errors());
    json[kAgainst] = {{"run", row.title}};
    json[kAgainst].update(statistics_json(other.summary()));
    json[kAgainst]["per_split"] = other.per_split();
    json[kAgainst]["difference"] = statistics_json(paired.difference);
    json[kAgainst]["pairs"] = paired.pairs;
    json[kAgainst]["better"] = paired.better;
  }
}

Json protocol_json(const EvaluationTable& table, size_t protocol) {
  const EvaluationFacts& facts = table.facts;
  const ProtocolScores& scores = table.rows.front().scores[protocol];
  Json json = {{"protocol", name_of(facts.protocols[protocol])}, {"metric", facts.metric}};
  json.update(statistics_json(scores.summary()));
  json["val"] = or_null(mean_of(scores.validation));
  if (scores.confusion) json["macro_f1"] = scores.confusion->macro_f1();
  json["splits"] = scores.splits;
  json["seeds"] = scores.seeds;
  json["per_split"] = scores.per_split();
  for (int64_t s = 0; s < scores.splits; ++s) {
    Json each = Json::array(), chosen = Json::array();
    for (int64_t k = s * scores.seeds; k < (s + 1) * scores.seeds; ++k) {
      each.push_back(scores.test[k]);
      if (!scores.chosen.empty())
        chosen.push_back(candidate_name(facts.probe_of(facts.protocols[protocol]), scores.chosen[k]));
    }
    json["per_split_and_seed"].push_back(each);
    if (!scores.chosen.empty()) json["chosen"].push_back(chosen);
  }
  for (size_t t = 0; t < scores.tasks.size(); ++t) json["tasks"].push_back(task_json(table, protocol, t));
  add_other_rows(json, table, protocol);
  if (facts.of_molecules()) {
    json["notes"] = notes_of(scores);
    json["unconverged"] = scores.unconverged;
    return json;
  }
  if (facts.protocols[protocol] == Protocol::paper) {
    json["inflated"] = true;
    json["pooled_test_trained_on"] = facts.trained_share;
  }
  add_classes(json, *scores.confusion, facts.classes);
  return json;
}

// What the interval of the first row is made of.
Json interval_name(const EvaluationFacts& facts, const ProtocolScores& scores) {
  if (scores.splits > 1) return scores.overlap > 0 ? "splits, corrected for overlap" : "splits";
  if (scores.test.size() > 1) return "seeds";
  return facts.resampled ? Json("bootstrap over test rows") : Json();
}

Json probe_json(const EvaluationTable& table) {
  const EvaluationFacts& facts = table.facts;
  const ProbeOptions& probe = facts.probe;
  if (facts.of_molecules())
    return {{"kind", facts.errors() ? "ridge" : "logistic"}, {"penalties", kPenaltyGrid}, {"folds", kFolds}};
  if (probe.kind == ProbeKind::tuned && facts.protocols.front() == Protocol::strict)
    return {{"kind", "tuned"}, {"unconverged", table.rows.front().scores.front().unconverged}};
  if (probe.kind == ProbeKind::lbfgs)
    return {{"kind", "lbfgs"}, {"unconverged", table.rows.front().scores.front().unconverged}};
  return {{"kind", "adam"}, {"lr", probe.lr}, {"weight_decay", probe.weight_decay}, {"epochs", probe.epochs}};
}

}  // namespace

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json statistics_json(const Statistics& s) {
  const Json interval = std::isfinite(s.low) ? Json{s.low, s.high} : Json();
  return {{"mean", s.mean}, {"std", s.deviation}, {"ci95", interval}};
}

std::vector<std::string> notes_of(const ProtocolScores& scores) {
  std::vector<std::string> lines;
  for (size_t s = 0; s < scores.notes.size(); ++s) {
    for (const std::string& note : scores.notes[s]) {
      const std::string line = scores.splits > 1 ? fmt::format("split {}: {}", s, note) : note;
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
  }
  return lines;
}

Json evaluation_json(const EvaluationTable& table) {
  const EvaluationFacts& facts = table.facts;
  // The honest numbers come first; inflated ones are never at the top unless nothing else was asked for.
  Json json = protocol_json(table, 0);
  if (facts.protocols.size() > 1) json["paper"] = protocol_json(table, 1);
  json["probe"] = probe_json(table);
  json["interval"] = interval_name(facts, table.rows.front().scores.front());
  add_blocks(json, table);
  add_few_labels(json, table);
  json["split_source"] = facts.split_source;
  if (facts.split_seed) json["split_seed"] = *facts.split_seed;
  if (facts.of_molecules()) {
    json["split_sizes"] = facts.split_sizes;
    json["training_labels"] = facts.training_labels;
    json["missing_training_labels"] = facts.missing_labels;
  } else {
    json["test_nodes"] = facts.test_nodes;
    json["test_twins"] = facts.test_twins;
    json["dedupe"] = facts.dedupe;
  }
  return json;
}

}  // namespace graphpae::run
