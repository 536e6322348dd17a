#include "graphpae/reproduce/reproduce.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/interrupt.h"
#include "graphpae/core/error.h"
#include "graphpae/reproduce/summary.h"
#include "graphpae/reproduce/tune.h"

namespace graphpae::cli {
namespace {

JobWatch job_watch(const Common& common) {
  JobWatch watch;
  static_cast<run::Watch&>(watch) = watch_of(common);
  watch.failure = [](const std::string& line) { spdlog::error("{}", line); };
  watch.command = [](const std::string& line) { spdlog::debug("{}", line); };
  return watch;
}

Json summary_json(const Summary& summary) {
  Json lines = Json::array();
  for (const SummaryLine& line : summary.lines) {
    Json json = {{"row", summary.experiment.rows[line.row].name},
                 {"variant", summary.experiment.variants[line.variant].name},
                 {"target", line.target},
                 {"metric", line.metric},
                 {"seeds", line.seeds},
                 {"wanted_seeds", line.wanted_seeds},
                 {"epochs", line.epochs},
                 {"recipe_epochs", line.recipe_epochs},
                 {"seconds", line.seconds},
                 {"peak_rss_bytes", line.peak_rss_bytes},
                 {"state", line.state}};
    for (const auto& [protocol, s] : line.protocols)
      json["protocols"][protocol] = {{"mean", s.mean}, {"std", s.deviation}, {"scores", s.count}};
    json["published"] = line.published ? Json(line.published->mean) : Json();
    for (const VariantComparison& c : line.comparisons) {
      json["comparisons"].push_back({{"protocol", c.protocol},
                                     {"against", summary.experiment.reference},
                                     {"difference", c.difference.mean},
                                     {"pairs", c.pairs},
                                     {"unit", c.unit},
                                     {"better", c.better},
                                     {"worse", c.worse},
                                     {"t_test", c.t_test ? Json(*c.t_test) : Json()},
                                     {"sign_test", c.sign_test ? Json(*c.sign_test) : Json()}});
    }
    lines.push_back(std::move(json));
  }
  return {{"experiment", summary.experiment.name},
          {"title", summary.experiment.title},
          {"paper", summary.experiment.paper},
          {"lines", lines},
          {"notes", summary.notes},
          {"commits", summary.commits},
          {"machines", summary.machines}};
}

void print_experiments(const Common& common) {
  Json list = Json::array();
  for (const Experiment& experiment : experiments()) {
    list.push_back({{"name", experiment.name}, {"title", experiment.title}, {"paper", experiment.paper}});
    if (!common.json) fmt::print("  {:<13} {}: {}\n", experiment.name, experiment.paper, experiment.title);
  }
  if (common.json) return print_json(list);
  fmt::print("  {:<13} {}\n", "tune DATA", "search for settings by validation score");
}

Json plan_json(const CampaignPlan& plan) {
  Json jobs = Json::array(), missing = Json::object();
  for (const PlannedJob& job : plan.jobs) {
    jobs.push_back(
        {{"job", job.label}, {"key", job.key}, {"epochs", job.epochs}, {"done", job.done}, {"seconds", job.seconds}});
  }
  for (const auto& [name, state] : plan.missing) missing[name] = state;
  return {{"experiment", plan.experiment},  {"jobs", jobs},       {"open", plan.open()},
          {"seconds_left", plan.seconds()}, {"missing", missing}, {"notes", plan.notes}};
}

void print_plans(const std::vector<CampaignPlan>& plans, const Common& common) {
  if (common.json) {
    Json json = Json::array();
    for (const CampaignPlan& plan : plans) json.push_back(plan_json(plan));
    return print_json(json.size() == 1 ? json[0] : json);
  }
  for (const CampaignPlan& plan : plans) {
    for (const PlannedJob& job : plan.jobs)
      fmt::print("{:<44} {:>6} epochs  {}\n", job.label, job.epochs,
                 job.done ? "done" : "about " + duration_text(job.seconds));
    for (const auto& [name, state] : plan.missing) fmt::print("{:<44} {}\n", name, state);
    for (const std::string& note : plan.notes) fmt::print("{}\n", note);
    fmt::print("{}: {} of {} jobs to do, about {}; nothing was run\n", plan.experiment, plan.open(), plan.jobs.size(),
               duration_text(plan.seconds()));
  }
}

void print_result(const ReproduceResult& result, const ReproduceOptions& options, const Common& common) {
  const auto& [summaries, spectra, failed, kind] = result;
  if (common.json) {
    Json json = Json::array();
    for (const Summary& summary : summaries) json.push_back(summary_json(summary));
    for (const SpectrumOfRow& one : spectra)
      json.push_back({{"row", one.row}, {"spectrum", one.directory}, {"text", one.text}});
    return print_json(json.size() == 1 ? json[0] : json);
  }
  for (const Summary& summary : summaries) fmt::print("{}\n", summary_text(summary));
  fmt::print("{}", spectra_text(spectra));
  const bool found = !summaries.empty() || std::any_of(spectra.begin(), spectra.end(),
                                                       [](const SpectrumOfRow& one) { return !one.directory.empty(); });
  fmt::print("{}/results.md", options.output);
  if (found) fmt::print(", {0}/results.csv, {0}/report.html", options.output);
  fmt::print("\n");
}

void print_plan(const TunePlan& plan, const Common& common) {
  if (common.json)
    return print_json({{"candidates", plan.candidates},
                       {"epochs", plan.epochs},
                       {"test_runs", plan.test_runs},
                       {"seconds", plan.seconds}});
  fmt::print("{} candidates, up to {} epochs, then {} runs on the test part: about {}; nothing was run\n",
             plan.candidates, plan.epochs, plan.test_runs, duration_text(plan.seconds));
}

void print_result(const TuneResult& result, const Common& common) {
  if (common.json)
    return print_json({{"recipe", result.recipe_file},
                       {"winner", result.winner},
                       {"candidates", result.candidates},
                       {"epochs", result.epochs},
                       {"metric", result.metric},
                       {"verdict", result.verdict}});
  fmt::print("{}\n{}\n{}\n\n{}: use it with --config\n", rounds_text(result.rounds, result.metric),
             summary_text(result.summary), result.verdict, result.recipe_file);
}

}  // namespace

void add_reproduce(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand(
      "reproduce", "Rerun a table of the paper, or tune settings, and go on where it was interrupted.");
  auto flags = std::make_shared<ReproduceOptions>();
  verb->add_option(
          "NAME", flags->name,
          "Run this experiment, all of them, tune, or a YAML file of your own; without a name they are listed.")
      ->type_name("EXPERIMENT");
  verb->add_option("DATA", flags->tune_data, "Tune settings for this data set, after the name tune.")
      ->type_name("DATA");
  verb->add_option("--data", flags->data, "Look for data sets in this directory; the default is $GRAPHPAE_DATA.")
      ->type_name("DIR");
  verb->add_option("--seeds", flags->seeds,
                   "Run every line of the table this often; the default is what the experiment says.")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  verb->add_option("--datasets", flags->datasets, "Run these data sets only, for instance chameleon,squirrel.")
      ->type_name("NAMES")
      ->delimiter(',');
  verb->add_option("--variants", flags->variants,
                   "Run these lines of the table only, even those that are not run by default.")
      ->type_name("NAMES")
      ->delimiter(',');
  verb->add_option("--epochs", flags->epochs, "Train for this many epochs instead of those of the recipes.")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{1000000000}));
  verb->add_option("--budget", flags->budget,
                   "Spend this much time, for instance 30m or 2h; seeds and epochs are cut to fit.")
      ->type_name("TIME");
  verb->add_option("-o,--output", flags->output, "Keep results and unfinished runs in this directory.")
      ->type_name("DIR")
      ->capture_default_str();
  verb->add_option("--results", flags->results, "Also read finished runs from this file; the flag may be repeated.")
      ->type_name("FILE")
      ->group(kRare)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_flag("--table-only", flags->table_only, "Run nothing, and make tables of what is done.");
  verb->add_option("--fill", flags->fill, "Also fill the marks <!-- table: NAME --> of this Markdown file.")
      ->type_name("FILE")
      ->group(kRare);
  verb->add_flag("--keep-runs", flags->keep_runs, "Keep models and checkpoints of finished runs.")->group(kRare);
  verb->add_flag("--dry-run", flags->dry_run, "List the runs, which of them are done and how long the others take.");
  verb->add_option("--recipe", flags->recipe,
                   "Start the search of tune from this recipe; the default is the recipe of that name.")
      ->type_name("RECIPE")
      ->group(kRare);
  verb->callback([flags, &common] {
    if (flags->name.empty()) return print_experiments(common);
    if (!flags->data.empty() && !std::filesystem::is_directory(flags->data))
      throw usage_error(fmt::format("--data {}: is not a directory", flags->data));
    const GracefulStop graceful;
    const JobWatch watch = job_watch(common);
    flags->threads = common.threads;
    if (flags->name == "tune")
      return flags->dry_run ? print_plan(plan_tuning(*flags, watch), common)
                            : print_result(tune(*flags, watch), common);
    if (!flags->tune_data.empty())
      throw usage_error(fmt::format("'{}': only tune takes a data set; --datasets restricts", flags->tune_data));
    if (flags->dry_run) return print_plans(plan_reproduction(*flags, watch), common);
    const ReproduceResult result = reproduce(*flags, watch);
    print_result(result, *flags, common);
    if (result.failed > 0) throw Error(result.failure_kind, fmt::format("{} of the runs failed", result.failed));
  });
}

}  // namespace graphpae::cli
