#include "graphpae/cli/evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/cli/flag_groups.h"
#include "graphpae/cli/score_table.h"

namespace graphpae::cli {
namespace {

using run::EvaluationFacts, run::EvaluationRow, run::EvaluationTable, run::kAgainst;

std::string counted(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string title_line(const EvaluationTable& table) {
  const EvaluationFacts& facts = table.facts;
  const ProtocolScores& scores = table.rows.front().scores.front();
  return fmt::format("{}, {} ({}) x {}, {}{}\n\n",
                     facts.errors()             ? "RMSE (smaller is better)"
                     : facts.metric == "rocauc" ? "ROC-AUC in %"
                                                : "accuracy in %",
                     counted(scores.splits, "split"), facts.split_source, counted(scores.seeds, "seed"),
                     facts.of_molecules() ? counted(static_cast<int64_t>(facts.tasks.size()), "task")
                                          : fmt::format("{} classes", facts.classes.size()),
                     facts.dedupe ? ", without twins of training nodes" : "");
}

// A sentence on lines that fit the page.
std::string wrapped_line(const std::string& text) {
  constexpr size_t kWidth = 90;
  std::string lines, line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      lines += line + "\n";
      line = "        ";
    }
    line += (line.empty() || line.back() == ' ' ? "" : " ") + word;
    begin = end + 1;
  }
  return lines + line + "\n";
}

// Scores by task beside the baselines that are probes, under the first protocol.
std::string task_table(const EvaluationTable& table, const ScoreFormat& format) {
  constexpr size_t kLongestName = 20;
  std::string text =
      fmt::format("\n{:{}}", fmt::format("by task, {}", name_of(table.facts.protocols.front())), kLongestName);
  for (const EvaluationRow& row : table.rows) {
    if (row.key != "majority") text += fmt::format("  {:>17}", row.key == kAgainst ? kAgainst : row.title);
  }
  text += "\n";
  for (size_t t = 0; t < table.facts.tasks.size(); ++t) {
    text += fmt::format("{:{}}", table.facts.tasks[t], kLongestName);
    for (const EvaluationRow& row : table.rows) {
      if (row.key == "majority") continue;
      const std::optional<double> mean = mean_of(row.scores.front().tasks[t].test);
      text += fmt::format("  {:>17}", mean ? fmt::format("{:.{}f}", format.factor * *mean, format.decimals) : "-");
    }
    text += "\n";
  }
  return text;
}

// Blocks that need no training and what the embeddings are worth beside them, under strict.
std::string block_table(const EvaluationTable& table, const ScoreFormat& format) {
  if (!table.verdict) return "";
  std::vector<ScoreRow> lines;
  for (const EvaluationRow& row : table.blocks) lines.push_back({row.title, {row.scores.front().summary()}});
  lines.push_back({"combined", {table.verdict->combination.summary()}});
  lines.push_back({"with embeddings", {table.verdict->together.summary()}});
  return "\n" + score_table({"blocks, no training"}, lines, format) + "\n" +
         wrapped_line("verdict: " + table.verdict->sentence);
}

std::string curve_table(const EvaluationTable& table, const ScoreFormat& format) {
  if (!table.few_labels) return "";
  const run::FewLabels& curves = *table.few_labels;
  std::string text = fmt::format("\n{:18}", "labels per class");
  for (const int64_t count : curves.per_class)
    text += fmt::format("  {:>14}", count > 0 ? std::to_string(count) : "all");
  for (const run::FewLabels::Row& row : curves.rows) {
    text += fmt::format("\n{:18}", row.title);
    for (const ProtocolScores& scores : row.scores) {
      const Statistics s = scores.summary();
      const std::string spread =
          s.count > 1 ? fmt::format(" +- {:.{}f}", format.factor * s.deviation, format.decimals) : "";
      text += fmt::format("  {:>14}", fmt::format("{:.{}f}{}", format.factor * s.mean, format.decimals, spread));
    }
  }
  return text + "\n";
}

const char* strict_line(const EvaluationFacts& facts) {
  return facts.of_molecules() ? "strict: penalty by cross validation within the training molecules, tested once\n"
                              : "strict: chosen by validation, tested once on the test nodes of the same split\n";
}

std::string paper_line(const EvaluationFacts& facts) {
  if (!facts.of_molecules())
    return fmt::format(
        "paper:  INFLATED, for comparison with the paper only: {:.1f} % of its pooled test\n"
        "        nodes were trained on, and the best test accuracy among equal validation\n"
        "        accuracies is taken\n",
        100 * facts.trained_share);
  if (facts.missing_labels == 0) return "paper:  the same as strict, as no training label is missing\n";
  return fmt::format("paper:  as released, the {:.1f} % of training labels that are missing count as 0\n",
                     100 * static_cast<double>(facts.missing_labels) / static_cast<double>(facts.training_labels));
}

}  // namespace

void add_split_flags(CLI::App& app, run::EvaluateOptions& options) {
  app.add_option("--split", options.split,
                 "Take the splits of the data (public, the default if there are any), or draw splits of nodes "
                 "(random:60/20/20).")
      ->type_name("SPLIT")
      ->group(kRare);
  app.add_option("--num-splits", options.num_splits,
                 "Draw this many random splits, and train a model on each; the default is 10.")
      ->type_name("N")
      ->group(kRare)
      ->check(CLI::Range(int64_t{1}, int64_t{100000}));
  app.add_option("--split-seed", options.split_seed, "Draw random splits from this seed; the default is 0.")
      ->type_name("N")
      ->group(kRare)
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--stratified", options.stratified, "Keep the shares of the classes in random splits.")->group(kRare);
}

void add_evaluate_flags(CLI::App& app, run::EvaluateOptions& options, CLI::Option* switch_flag) {
  const auto add = [&](CLI::Option* option) {
    option->group(kEvaluation);
    if (switch_flag != nullptr) option->needs(switch_flag);
    return option;
  };
  // Everyday flags of a verb that does nothing else.
  const auto add_first = [&](CLI::Option* option) { add(option)->group(switch_flag ? kEvaluation : kEveryday); };
  const CLI::Range count(int64_t{1}, int64_t{100000});
  add_first(app.add_option("--protocol", options.protocol,
                           "Measure honestly (strict), as released (paper, inflated on one graph) or both ways.")
                ->type_name("strict|paper|both")
                ->capture_default_str());
  add_first(app.add_option("--probe", options.probe,
                           "Standardise columns and choose the penalty by validation (tuned, the default), train the "
                           "probe as released (released, always so under paper), or choose among fixed penalties "
                           "(lbfgs).")
                ->type_name("tuned|released|lbfgs"));
  add_first(
      app.add_option("--metric", options.metric,
                     "Score the nodes of two classes by accuracy or by ROC-AUC (roc_auc); auto is accuracy, but for "
                     "data sets that are published with ROC-AUC.")
          ->type_name("auto|accuracy|roc_auc")
          ->capture_default_str());
  add_first(app.add_option("--labels-per-class", options.labels_per_class,
                           "Probe with few labels, too: with so many of each class, such as 1,5,20,100,all.")
                ->type_name("LIST"));
  add_first(app.add_option("--split", options.split,
                           "Take the splits of the data (public, the default if there are any), draw them "
                           "(random:60/20/20) or divide molecules by scaffold (scaffold).")
                ->type_name("SPLIT"));
  add_first(app.add_option("--seeds", options.seeds,
                           "Train this many released probes per split; the default makes ten scores of all splits.")
                ->type_name("N")
                ->check(count));
  add(app.add_option("--baselines", options.baselines,
                     "Probe the baselines and blocks that need no training too, or the embeddings only.")
          ->type_name("all|none")
          ->capture_default_str());
  add(app.add_option("--num-splits", options.num_splits, "Draw this many random splits; the default is 10.")
          ->type_name("N")
          ->check(count));
  add(app.add_option("--split-seed", options.split_seed, "Draw random splits from this seed; the default is 0.")
          ->type_name("N")
          ->check(CLI::NonNegativeNumber));
  add(app.add_flag("--stratified", options.stratified,
                   "Keep the shares of the classes in random splits, as those drawn by default do."));
  add(app.add_flag("--dedupe", options.dedupe, "Leave out test nodes that have a twin in training."));
}

std::string evaluation_text(const EvaluationTable& table) {
  const EvaluationFacts& facts = table.facts;
  const ScoreFormat format = facts.errors() ? ScoreFormat{1, 3} : ScoreFormat{};
  const EvaluationRow& subject = table.rows.front();
  std::vector<std::string> heads;
  for (const Protocol protocol : facts.protocols) {
    const bool inflated = protocol == Protocol::paper && !facts.of_molecules();
    heads.push_back(inflated ? "paper (INFLATED)" : name_of(protocol));
  }
  std::vector<ScoreRow> lines;
  for (const EvaluationRow& row : table.rows) {
    lines.push_back({row.key == kAgainst ? kAgainst : row.title, {}});
    for (const ProtocolScores& scores : row.scores) lines.back().columns.push_back(scores.summary());
  }
  std::string text = title_line(table) + score_table(heads, lines, format);
  if (facts.tasks.size() > 1) text += task_table(table, format);
  text += block_table(table, format) + curve_table(table, format);
  text += "\n";
  for (const EvaluationRow& row : table.rows) {
    for (size_t p = 0; p < facts.protocols.size() && row.key == kAgainst; ++p) {
      const PairedDifference paired = compare(subject.scores[p], row.scores[p], facts.errors());
      text += difference_line(name_of(facts.protocols[p]), paired.difference, row.title, paired.better, paired.pairs,
                              format);
    }
  }
  for (const Protocol protocol : facts.protocols)
    text += protocol == Protocol::strict ? strict_line(facts) : paper_line(facts);
  if (facts.test_twins > 0 && !facts.dedupe) {
    text +=
        fmt::format("twins:  {} of {} test nodes share features and neighbourhood with a training node (--dedupe)\n",
                    facts.test_twins, facts.test_nodes);
  }
  for (const std::string& note : run::notes_of(subject.scores.front())) text += fmt::format("note:   {}\n", note);
  if (const int64_t open = subject.scores.front().unconverged; open > 0)
    text += fmt::format("probe:  {} optimisations ran out of steps\n", open);
  return text;
}

}  // namespace graphpae::cli
