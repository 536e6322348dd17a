#include "graphpae/run/auto.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <map>
#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/score_table.h"
#include "graphpae/core/error.h"
#include "graphpae/evaluate/statistics.h"

namespace graphpae::cli {
namespace {

struct AutoFlags {
  DataFlags data;
  run::AutoOptions options;
  std::string budget = "10m", blocks;
  bool dry_run = false;
};

// "90", "90s", "10m", "2h" in seconds.
double parse_budget(const std::string& text) {
  double value = 0;
  const auto [end, reason] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  const std::map<std::string, double> units = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
  const auto found = units.find(unit);
  if (reason != std::errc() || found == units.end() || !(value > 0) || !(value < 1e7))
    throw usage_error(fmt::format("--budget {}: expected a time such as 90s, 10m or 2h", text));
  return value * found->second;
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (std::string& word : CLI::detail::split(list, ',')) {
    if (!word.empty()) words.push_back(CLI::detail::trim(word));
  }
  return words;
}

std::string plan_text(const run::AutoPlan& plan, const std::string& budget) {
  std::string text;
  if (plan.labelled)
    text += fmt::format("{} splits ({}), scored by {}\nblocks: {}\n", plan.splits, plan.split_source, plan.metric,
                        fmt::join(plan.blocks, ", "));
  for (const run::AutoModel& model : plan.models)
    text += fmt::format("pre-training: {}, {} epochs, about {:.0f} s on two processors\n", model.method, model.epochs,
                        model.seconds);
  return text + fmt::format("budget {}; nothing is written\n", budget);
}

std::string result_text(const run::AutoResult& result, const std::string& run) {
  std::string text;
  if (!result.splits.empty()) {
    const ScoreFormat format{result.errors ? 1.0 : 100.0, result.errors ? 3 : 2};
    text += fmt::format("{}, {} split{} ({})\n\n",
                        result.errors ? "RMSE (smaller is better)"
                                      : (result.plan.metric == "accuracy" ? "accuracy in %" : "ROC-AUC in %"),
                        result.splits.size(), result.splits.size() == 1 ? "" : "s", result.plan.split_source);
    const auto row = [&](const std::string& title, const auto& score) {
      std::vector<double> scores;
      for (const run::AutoSplit& split : result.splits) scores.push_back(score(split));
      return ScoreRow{title, {statistics(scores)}};
    };
    std::vector<ScoreRow> rows = {row("chosen", [](const run::AutoSplit& split) { return split.test; })};
    for (size_t b = 0; b < result.splits.front().blocks.size(); ++b) {
      rows.push_back(row(result.splits.front().blocks[b].first + " alone",
                         [&](const run::AutoSplit& split) { return split.blocks.at(b).second; }));
    }
    text += score_table({"strict"}, rows, format) + "\n";
    text += "chosen for the first split:\n";
    for (const run::ChosenBlock& one : result.splits.front().chosen)
      text += fmt::format("  {:.2f}  {} ({})\n", one.weight, one.block, one.kernel);
    if (result.splits.front().bent) text += "  with a Gaussian over the sum\n";
    text += "\n";
  }
  text += result.verdict + "\n\n";
  text += fmt::format("embeddings   {}\n", result.embeddings);
  if (!result.predictions.empty()) text += fmt::format("predictions  {}\n", result.predictions);
  return text + fmt::format("report       {}/report.html\n{:.1f} s, peak memory {:.2f} GB\n", run, result.seconds,
                            static_cast<double>(result.peak_bytes) / 1e9);
}

void automatic(AutoFlags& flags, Common& common) {
  run::AutoOptions& options = flags.options;
  if (options.resume && options.force) throw usage_error("--resume and --force exclude each other");
  if (options.run.empty() && !flags.dry_run) throw usage_error("-o RUN is required: where the run is kept");
  options.budget = parse_budget(flags.budget);
  options.blocks = words_of(flags.blocks);
  options.data = flags.data.data;
  const Dataset dataset = load_data(flags.data, common);
  print_notes(dataset.notes);
  const run::Context context = context_of(common);
  if (flags.dry_run) {
    const run::AutoPlan plan = run::plan_auto(dataset, options, context);
    if (common.json) return print_json(run::plan_json(plan));
    print_notes(plan.notes);
    return fmt::print("{}", plan_text(plan, flags.budget));
  }
  const run::AutoResult result = run::automatic(dataset, options, context);
  if (common.json) return print_json(run::results_json(result));
  fmt::print("{}", result_text(result, options.run));
}

}  // namespace

void add_auto(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand(
      "auto", "From a graph or molecules to embeddings, predictions and one honest score, all chosen for you.");
  auto flags = std::make_shared<AutoFlags>();
  run::AutoOptions& options = flags->options;
  add_data_argument(*verb, flags->data);
  verb->add_option("-o,--output", options.run, "Keep the run in this directory; only --dry-run needs none.")
      ->type_name("DIR");
  verb->add_option("--budget", flags->budget, "Pre-train for half of this time at most, such as 90s, 10m or 2h.")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--blocks", flags->blocks,
                   "Choose among these blocks only, a list such as adjacency,neighbours,pretrained; the default is all "
                   "there are.")
      ->type_name("NAMES");
  verb->add_option("--metric", options.metric, "Score classes of nodes by this; auto is accuracy.")
      ->type_name("auto|accuracy|roc_auc")
      ->capture_default_str();
  verb->add_option("--seed", options.seed, "Draw everything that is random from this seed.")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_flag("--resume", options.resume, "Go on with the run in the directory, if there is one.");
  verb->add_flag("--force", options.force, "Start anew where a run is.");
  verb->add_flag("--dry-run", flags->dry_run, "Say what would be done; write nothing.");
  verb->add_option("--split", options.split,
                   "Take the splits of the data (public, the default if there are any), draw them "
                   "(random:60/20/20) or divide molecules by scaffold (scaffold).")
      ->type_name("SPLIT")
      ->group(kEvaluation);
  verb->add_option("--num-splits", options.num_splits, "Draw this many random splits; the default is 10.")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}))
      ->group(kEvaluation);
  verb->add_option("--split-seed", options.split_seed, "Draw random splits from this seed; the default is 0.")
      ->type_name("N")
      ->group(kEvaluation);
  add_reading_flags(*verb, flags->data);
  verb->callback([flags, &common] { automatic(*flags, common); });
}

}  // namespace graphpae::cli
