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
  CLI::App* verb = app.add_subcommand("reproduce", "rerun a table of the paper, or tune settings; resumable");
  auto flags = std::make_shared<ReproduceOptions>();
  verb->add_option("NAME", flags->name, "an experiment (none: a list of them), all, tune, or a YAML file of your own");
  verb->add_option("DATA", flags->tune_data, "of tune: the data set");
  verb->add_option("--data", flags->data, "directory of data sets (default: $GRAPHPAE_DATA)");
  verb->add_option("--seeds", flags->seeds, "runs per line (default: as the experiment says)")
      ->check(CLI::Range(1, 100000));
  verb->add_option("--datasets", flags->datasets, "only these, for instance chameleon,squirrel")->delimiter(',');
  verb->add_option("--variants", flags->variants, "only these lines of the table, also those that are not by default")
      ->delimiter(',');
  verb->add_option("--epochs", flags->epochs, "of every run, instead of those of the recipes")
      ->check(CLI::Range(int64_t{1}, int64_t{1000000000}));
  verb->add_option("--budget", flags->budget, "time to spend, for instance 30m or 2h: seeds and epochs are cut to fit");
  verb->add_option("-o,--output", flags->output, "directory of results and unfinished runs")->capture_default_str();
  verb->add_option("--results", flags->results, "further files of finished runs, only read (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_flag("--table-only", flags->table_only, "run nothing: tables of what is done");
  verb->add_option("--fill", flags->fill, "also fill the marks <!-- table: NAME --> of this Markdown file");
  verb->add_flag("--keep-runs", flags->keep_runs, "keep models and checkpoints of finished runs");
  verb->add_flag("--dry-run", flags->dry_run, "list the runs, which are done and how long the others take");
  verb->add_option("--recipe", flags->recipe, "of tune: where the search starts (default: the recipe of that name)");
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
