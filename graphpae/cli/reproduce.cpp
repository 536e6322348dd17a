#include "graphpae/cli/reproduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "graphpae/cli/campaign.h"
#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"
#include "graphpae/reproduce/table.h"

namespace graphpae::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string text_of(const std::vector<SpectrumOfRow>& spectra) {
  std::string text;
  for (const SpectrumOfRow& one : spectra) text += fmt::format("{}\n\n{}", one.row, one.text);
  return text;
}

// Numbers of all spectra, and the page of the first.
void write_spectra(const Workshop& workshop, const std::vector<SpectrumOfRow>& spectra) {
  std::string csv;
  for (const SpectrumOfRow& one : spectra) {
    if (!fs::exists(one.directory + "/spectrum.csv")) continue;
    std::istringstream lines(read_file(one.directory + "/spectrum.csv", 1 << 28));
    std::string line;
    std::getline(lines, line);
    if (csv.empty()) {
      csv = "row," + line + "\n";
      write_file(workshop.directory + "/report.html", read_file(one.directory + "/spectrum.html", 1 << 28));
    }
    while (std::getline(lines, line)) csv += table_field(one.row, ',') + "," + line + "\n";
  }
  if (!csv.empty()) write_file(workshop.directory + "/results.csv", csv);
}

void write_outputs(const Workshop& workshop, const std::vector<Summary>& summaries,
                   const std::vector<SpectrumOfRow>& spectra, const std::string& title) {
  std::string markdown, csv;
  for (const Summary& summary : summaries) {
    markdown +=
        fmt::format("# {} ({})\n\n{}\n", summary.experiment.title, summary.experiment.paper, summary_markdown(summary));
    std::string lines = summary_csv(summary);
    csv += csv.empty() ? lines : lines.substr(lines.find('\n') + 1);
  }
  if (!spectra.empty()) markdown += fmt::format("# Spectra\n\n```\n{}```\n", text_of(spectra));
  write_file(workshop.directory + "/results.md", markdown);
  if (summaries.empty()) return write_spectra(workshop, spectra);
  write_file(workshop.directory + "/results.csv", csv);
  write_file(workshop.directory + "/report.html", summary_html(summaries, title));
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

void print_list(const Json& list) {
  for (const Json& job : list["jobs"]) {
    fmt::print("{:<44} {:>6} epochs  {}\n", job["job"].get<std::string>(), job["epochs"].get<int64_t>(),
               job["done"].get<bool>() ? "done" : "about " + duration_text(job["seconds"].get<double>()));
  }
  for (const auto& [name, state] : list["missing"].items()) fmt::print("{:<44} {}\n", name, state.get<std::string>());
  for (const Json& note : list["notes"]) fmt::print("{}\n", note.get<std::string>());
  fmt::print("{}: {} of {} jobs to do, about {}; nothing was run\n", list["experiment"].get<std::string>(),
             list["open"].get<int64_t>(), list["jobs"].size(), duration_text(list["seconds_left"].get<double>()));
}

// Of `all`, experiments that have none of the data sets or variants asked for are left out.
std::vector<Experiment> wanted_experiments(const ReproduceFlags& flags) {
  if (flags.name != "all") return {find_experiment(flags.name)};
  std::vector<Experiment> all = experiments();
  std::erase_if(all, [&](Experiment experiment) {
    try {
      keep_rows(experiment, flags.datasets);
      keep_variants(experiment, flags.variants);
    } catch (const Error&) {
      return true;
    }
    return false;
  });
  if (all.empty())
    throw usage_error(fmt::format("no experiment has --datasets '{}' --variants '{}'", fmt::join(flags.datasets, ","),
                                  fmt::join(flags.variants, ",")));
  return all;
}

// What is left of --budget for the next of so many experiments, at least a second.
double budget_left(const ReproduceFlags& flags, Clock::time_point start, size_t experiments) {
  const std::chrono::duration<double> used = Clock::now() - start;
  return std::max(1.0, (parse_duration(flags.budget) - used.count()) / static_cast<double>(experiments));
}

void list_jobs(const ReproduceFlags& flags, const Common& common) {
  const std::shared_ptr<const Workshop> scratch = temporary_workshop();
  const GracefulStop stop;
  const Workshop workshop = workshop_of(flags);
  JobRunner runner(*scratch, common, stop);
  Json lists = Json::array();
  const auto start = Clock::now();
  const std::vector<Experiment> wanted = wanted_experiments(flags);
  for (const Experiment& experiment : wanted) {
    if (experiment.spectrum) continue;
    Campaign campaign(experiment, flags, workshop, runner, stop);
    if (!flags.budget.empty()) campaign.plan(budget_left(flags, start, wanted.size() - lists.size()));
    lists.push_back(campaign.list());
    if (!common.json) print_list(lists.back());
  }
  if (common.json) print_json(lists.size() == 1 ? lists[0] : lists);
}

void print_results(const std::vector<Summary>& summaries, const std::vector<SpectrumOfRow>& spectra,
                   const ReproduceFlags& flags, const Common& common) {
  if (common.json) {
    Json json = Json::array();
    for (const Summary& summary : summaries) json.push_back(summary_json(summary));
    for (const SpectrumOfRow& one : spectra)
      json.push_back({{"row", one.row}, {"spectrum", one.directory}, {"text", one.text}});
    return print_json(json.size() == 1 ? json[0] : json);
  }
  for (const Summary& summary : summaries) fmt::print("{}\n", summary_text(summary));
  fmt::print("{}", text_of(spectra));
  const bool found = !summaries.empty() || std::any_of(spectra.begin(), spectra.end(),
                                                       [](const SpectrumOfRow& one) { return !one.directory.empty(); });
  fmt::print("{}/results.md", flags.output);
  if (found) fmt::print(", {0}/results.csv, {0}/report.html", flags.output);
  fmt::print("\n");
}

void reproduce(const ReproduceFlags& flags, const Common& common) {
  const auto start = Clock::now();
  const std::vector<Experiment> wanted = wanted_experiments(flags);
  if (!flags.budget.empty()) parse_duration(flags.budget);
  if (flags.dry_run) return list_jobs(flags, common);
  const Workshop workshop = workshop_of(flags);
  workshop.create();
  const GracefulStop stop;
  JobRunner runner(workshop, common, stop);
  std::vector<Summary> summaries;
  std::vector<SpectrumOfRow> spectra;
  size_t failed = 0;
  int code = 0;
  for (const Experiment& experiment : wanted) {
    Campaign campaign(experiment, flags, workshop, runner, stop);
    if (experiment.spectrum) {
      for (SpectrumOfRow& one : campaign.spectra()) spectra.push_back(std::move(one));
    } else {
      const auto write = [&] {
        std::vector<Summary> all = summaries;
        all.push_back(campaign.summary());
        write_outputs(workshop, all, spectra, flags.name);
      };
      try {
        if (!flags.budget.empty() && !flags.table_only)
          campaign.plan(budget_left(flags, start, wanted.size() - summaries.size()));
        if (!flags.table_only) campaign.work(write);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::interrupted) throw;
        write();
        throw Error(ErrorKind::interrupted, kInterrupted);
      }
      summaries.push_back(campaign.summary());
    }
    failed += campaign.failures();
    if (code == 0) code = campaign.failure_code();
  }
  write_outputs(workshop, summaries, spectra, flags.name);
  if (!flags.fill.empty()) write_file(flags.fill, fill_marks(read_file(flags.fill, 1 << 24), summaries));
  print_results(summaries, spectra, flags, common);
  if (failed > 0) throw Error(kind_of(code), fmt::format("{} of the runs failed", failed));
}

}  // namespace

std::vector<std::string> data_places(const ReproduceFlags& flags) {
  if (!flags.data.empty()) return {flags.data};
  return default_fetch_options().places;
}

Workshop workshop_of(const ReproduceFlags& flags) {
  return {fs::absolute(flags.output).lexically_normal().string(), flags.keep_runs};
}

std::shared_ptr<const Workshop> temporary_workshop() {
  std::string place = (fs::temp_directory_path() / "graphpae-XXXXXX").string();
  if (::mkdtemp(place.data()) == nullptr) throw data_error(fmt::format("{}: cannot be made", place));
  return {new Workshop{place, false}, [](const Workshop* workshop) {
            std::error_code ignored;
            fs::remove_all(workshop->directory, ignored);
            delete workshop;
          }};
}

std::vector<Record> all_records(const Workshop& workshop, const ReproduceFlags& flags) {
  std::vector<Record> records = ResultLog(workshop.results()).read();
  for (const std::string& path : flags.results) {
    if (!fs::exists(path)) throw data_error(fmt::format("--results {}: no such file", path));
    const std::vector<Record> more = ResultLog(path).read();
    records.insert(records.end(), more.begin(), more.end());
  }
  return records;
}

void add_reproduce(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("reproduce", "rerun a table of the paper, or tune settings; resumable");
  auto flags = std::make_shared<ReproduceFlags>();
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
    if (!flags->data.empty() && !fs::is_directory(flags->data))
      throw usage_error(fmt::format("--data {}: is not a directory", flags->data));
    if (flags->name == "tune") return tune(*flags, common);
    if (!flags->tune_data.empty())
      throw usage_error(fmt::format("'{}': only tune takes a data set; --datasets restricts", flags->tune_data));
    reproduce(*flags, common);
  });
}

}  // namespace graphpae::cli
