#include "graphpae/cli/molecule_evaluation_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/cli/score_table.h"
#include "graphpae/evaluate/cross_validation.h"

namespace graphpae::cli {
namespace {

const char* name_of(Protocol protocol) { return protocol == Protocol::strict ? "strict" : "paper"; }

std::vector<Protocol> protocols_of(const MoleculePlan& plan) {
  std::vector<Protocol> protocols;  // the honest one first
  if (plan.options.strict) protocols.push_back(Protocol::strict);
  if (plan.options.paper) protocols.push_back(Protocol::paper);
  return protocols;
}

const GraphScores& scores_of(const GraphEvaluation& evaluation, Protocol protocol) {
  return protocol == Protocol::strict ? *evaluation.strict : *evaluation.paper;
}

// A number of every split and run of a row.
struct Numbers {
  int64_t splits = 0, runs = 0;
  std::vector<double> values;  // [splits, runs]

  Statistics summary() const { return statistics(values); }
  std::vector<double> per_split() const {
    std::vector<double> means;
    for (int64_t s = 0; s < splits; ++s)
      means.push_back(
          statistics(std::span(values).subspan(static_cast<size_t>(s * runs), static_cast<size_t>(runs))).mean);
    return means;
  }
};

Numbers test_scores(const MoleculePlan& plan, const MoleculeRow& row, Protocol protocol) {
  Numbers numbers{static_cast<int64_t>(plan.splits.size()), 0, {}};
  numbers.runs = static_cast<int64_t>(row.evaluations.size()) / numbers.splits;
  for (const GraphEvaluation& one : row.evaluations) numbers.values.push_back(scores_of(one, protocol).test);
  return numbers;
}

// Mean over the splits and runs that have it.
template <class Pick>
std::optional<double> mean_of(const MoleculeRow& row, Protocol protocol, const Pick& pick) {
  std::vector<double> values;
  for (const GraphEvaluation& one : row.evaluations) {
    if (const std::optional<double> value = pick(scores_of(one, protocol))) values.push_back(*value);
  }
  return values.empty() ? std::nullopt : std::optional(statistics(values).mean);
}

std::optional<double> task_mean(const MoleculeRow& row, Protocol protocol, int64_t task) {
  return mean_of(row, protocol, [&](const GraphScores& scores) { return scores.tasks[task].test; });
}

struct Comparison {
  Statistics difference;  // the first minus the other
  int64_t better = 0, pairs = 0;
};

// Split by split: smaller errors are better.
Comparison compare(const MoleculePlan& plan, const Numbers& first, const Numbers& other) {
  const std::vector<double> a = first.per_split(), b = other.per_split();
  std::vector<double> differences;
  Comparison result;
  for (size_t i = 0; i < a.size(); ++i) {
    differences.push_back(a[i] - b[i]);
    result.better += plan.metric == GraphMetric::rmse ? a[i] < b[i] : a[i] > b[i];
  }
  result.difference = statistics(differences);
  result.pairs = static_cast<int64_t>(a.size());
  return result;
}

// What the subject's probes had to say, each once.
std::vector<std::string> notes_of(const MoleculePlan& plan, const MoleculeRow& row, Protocol protocol) {
  const size_t runs = row.evaluations.size() / plan.splits.size();
  std::vector<std::string> notes;
  for (size_t k = 0; k < row.evaluations.size(); ++k) {
    for (const std::string& note : scores_of(row.evaluations[k], protocol).notes) {
      const std::string line = plan.splits.size() > 1 ? fmt::format("split {}: {}", k / runs, note) : note;
      if (std::find(notes.begin(), notes.end(), line) == notes.end()) notes.push_back(line);
    }
  }
  return notes;
}

int64_t unconverged(const MoleculeRow& row, Protocol protocol) {
  int64_t count = 0;
  for (const GraphEvaluation& one : row.evaluations) count += scores_of(one, protocol).unconverged;
  return count;
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json task_json(const MoleculePlan& plan, const std::vector<MoleculeRow>& rows, Protocol protocol, int64_t task) {
  const MoleculeRow& subject = rows.front();
  Json json = {
      {"task", plan.targets.names[task]},
      {"mean", or_null(task_mean(subject, protocol, task))},
      {"val", or_null(mean_of(subject, protocol, [&](const GraphScores& scores) { return scores.tasks[task].val; }))}};
  for (const GraphEvaluation& one : subject.evaluations) {
    json["per_split_and_seed"].push_back(or_null(scores_of(one, protocol).tasks[task].test));
    json["penalties"].push_back(or_null(scores_of(one, protocol).tasks[task].penalty));
  }
  for (size_t r = 1; r < rows.size(); ++r) json[rows[r].key] = or_null(task_mean(rows[r], protocol, task));
  return json;
}

Json protocol_json(const MoleculePlan& plan, const std::vector<MoleculeRow>& rows, Protocol protocol) {
  const Numbers scores = test_scores(plan, rows.front(), protocol);
  Json json = {{"protocol", name_of(protocol)}, {"metric", metric_name(plan.metric)}};
  json.update(statistics_json(scores.summary()));
  json["val"] = or_null(mean_of(rows.front(), protocol, [](const GraphScores& one) { return one.val; }));
  json["splits"] = scores.splits;
  json["seeds"] = scores.runs;
  json["per_split"] = scores.per_split();
  for (int64_t s = 0; s < scores.splits; ++s) {
    const auto begin = scores.values.begin() + s * scores.runs;
    json["per_split_and_seed"].push_back(std::vector<double>(begin, begin + scores.runs));
  }
  for (int64_t t = 0; t < plan.targets.tasks(); ++t) json["tasks"].push_back(task_json(plan, rows, protocol, t));
  json["baselines"] = Json::object();
  for (size_t r = 1; r < rows.size(); ++r) {
    const Numbers other = test_scores(plan, rows[r], protocol);
    if (rows[r].key != kAgainst) {
      json["baselines"][rows[r].key] = statistics_json(other.summary());
      continue;
    }
    const Comparison compared = compare(plan, scores, other);
    json[kAgainst] = {{"run", rows[r].title}};
    json[kAgainst].update(statistics_json(other.summary()));
    json[kAgainst]["per_split"] = other.per_split();
    json[kAgainst]["difference"] = statistics_json(compared.difference);
    json[kAgainst]["pairs"] = compared.pairs;
    json[kAgainst]["better"] = compared.better;
  }
  json["notes"] = notes_of(plan, rows.front(), protocol);
  json["unconverged"] = unconverged(rows.front(), protocol);
  return json;
}

// Scores by task beside the baselines that are probes, under one protocol.
std::string task_table(const std::vector<MoleculeRow>& rows, const MoleculePlan& plan, Protocol protocol,
                       const ScoreFormat& format) {
  constexpr size_t kLongestName = 20;
  const auto cell = [&](const std::optional<double>& value) {
    return value ? fmt::format("{:.{}f}", format.factor * *value, format.decimals) : std::string("-");
  };
  std::string text = fmt::format("\n{:{}}", fmt::format("by task, {}", name_of(protocol)), kLongestName);
  for (const MoleculeRow& row : rows) {
    if (row.key != "majority") text += fmt::format("  {:>17}", row.key == kAgainst ? "against" : row.title);
  }
  text += "\n";
  for (int64_t t = 0; t < plan.targets.tasks(); ++t) {
    text += fmt::format("{:{}}", plan.targets.names[t], kLongestName);
    for (const MoleculeRow& row : rows) {
      if (row.key != "majority") text += fmt::format("  {:>17}", cell(task_mean(row, protocol, t)));
    }
    text += "\n";
  }
  return text;
}

}  // namespace

Json evaluation_json(const MoleculePlan& plan, const std::vector<MoleculeRow>& rows) {
  const std::vector<Protocol> protocols = protocols_of(plan);
  Json json = protocol_json(plan, rows, protocols.front());
  if (protocols.size() > 1) json["paper"] = protocol_json(plan, rows, Protocol::paper);
  json["probe"] = {{"kind", plan.metric == GraphMetric::rmse ? "ridge" : "logistic"},
                   {"penalties", kPenaltyGrid},
                   {"folds", kFolds}};
  json["split_source"] = plan.split_source;
  for (const Split& split : plan.splits)
    json["split_sizes"].push_back({split.train.size(), split.val.size(), split.test.size()});
  json["training_labels"] = plan.training_labels;
  json["missing_training_labels"] = plan.missing_labels;
  return json;
}

std::string evaluation_text(const MoleculePlan& plan, const std::vector<MoleculeRow>& rows) {
  const bool errors = plan.metric == GraphMetric::rmse;
  const ScoreFormat format = errors ? ScoreFormat{1, 3} : ScoreFormat{};
  const std::vector<Protocol> protocols = protocols_of(plan);
  const Numbers scores = test_scores(plan, rows.front(), protocols.front());
  const auto plural = [](int64_t count) { return count == 1 ? "" : "s"; };
  std::string text = fmt::format("{}, {} split{} ({}) x {} seed{}, {} task{}\n\n",
                                 errors ? "RMSE (smaller is better)" : "ROC-AUC in %", scores.splits,
                                 plural(scores.splits), plan.split_source, scores.runs, plural(scores.runs),
                                 plan.targets.tasks(), plural(plan.targets.tasks()));
  std::vector<std::string> heads;
  for (const Protocol protocol : protocols) heads.emplace_back(name_of(protocol));
  std::vector<ScoreRow> lines;
  for (const MoleculeRow& row : rows) {
    lines.push_back({row.key == kAgainst ? "against" : row.title, {}});
    for (const Protocol protocol : protocols)
      lines.back().columns.push_back(test_scores(plan, row, protocol).summary());
  }
  text += score_table(heads, lines, format);
  if (plan.targets.tasks() > 1) text += task_table(rows, plan, protocols.front(), format);
  text += "\n";
  for (const MoleculeRow& row : rows) {
    if (row.key != kAgainst) continue;
    for (const Protocol protocol : protocols) {
      const Comparison compared =
          compare(plan, test_scores(plan, rows.front(), protocol), test_scores(plan, row, protocol));
      text +=
          difference_line(name_of(protocol), compared.difference, row.title, compared.better, compared.pairs, format);
    }
  }
  if (plan.options.strict) text += "strict: penalty by cross validation within the training molecules, tested once\n";
  if (plan.options.paper) {
    text +=
        plan.missing_labels == 0
            ? "paper:  the same as strict, as no training label is missing\n"
            : fmt::format("paper:  as released, the {:.1f} % of training labels that are missing count as 0\n",
                          100 * static_cast<double>(plan.missing_labels) / static_cast<double>(plan.training_labels));
  }
  for (const std::string& note : notes_of(plan, rows.front(), protocols.front()))
    text += fmt::format("note:   {}\n", note);
  if (const int64_t open = unconverged(rows.front(), protocols.front()); open > 0)
    text += fmt::format("probe:  {} optimisations ran out of steps\n", open);
  return text;
}

}  // namespace graphpae::cli
