#include "graphpae/cli/reproduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>

#include "graphpae/core/error.h"
#include "graphpae/core/machine.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/reproduce/table.h"

namespace graphpae::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// An experiment on this machine: what is here, what is done, what is left.
class Campaign {
 public:
  Campaign(Experiment experiment, const ReproduceFlags& flags, const Common& common, const Workshop& workshop,
           JobRunner& runner, const GracefulStop& stop)
      : experiment_(std::move(experiment)),
        flags_(flags),
        common_(common),
        workshop_(workshop),
        runner_(runner),
        stop_(stop) {
    keep_rows(experiment_, flags.datasets);
    keep_variants(experiment_, flags.variants);
    options_.seeds = flags.seeds > 0 ? flags.seeds : experiment_.seeds;
    options_.epochs = flags.epochs;
    find_data();
    if (flags.epochs > 0) notes_.push_back(fmt::format("--epochs {}: not the epochs of the recipes.", flags.epochs));
  }

  // Seeds and epochs so that the jobs fit into the budget.
  void plan() {
    if (flags_.budget.empty()) return;
    const double budget = parse_duration(flags_.budget);
    deadline_ = budget;
    const std::string path = fmt::format("{}/plans/{}.json", workshop_.directory, experiment_.name);
    const Json question = {{"budget", flags_.budget},
                           {"seeds", flags_.seeds},
                           {"epochs", flags_.epochs},
                           {"datasets", flags_.datasets},
                           {"variants", flags_.variants}};
    // The plan of an interrupted call is kept, or its jobs would be others each time.
    Json plan = fs::exists(path) ? Json::parse(read_file(path, 1 << 20), nullptr, false) : Json();
    if (!plan.is_object() || plan.value("question", Json()) != question) {
      const BudgetPlan found = plan_budget(cell_costs(), options_.seeds, budget);
      plan = {{"question", question}, {"seeds", found.seeds}, {"share", found.share}, {"fits", found.fits}};
      if (!flags_.dry_run) {
        fs::create_directories(fs::path(path).parent_path());
        write_file(path, plan.dump(2) + "\n");
      }
    }
    const int64_t wanted = options_.seeds;
    options_.seeds = plan.at("seeds").get<int64_t>();
    options_.share = plan.at("share").get<double>();
    notes_.push_back(fmt::format(
        "--budget {}: {} of {} seed{}, {}{}.", flags_.budget, options_.seeds, wanted, wanted == 1 ? "" : "s",
        options_.share >= 1 ? "all epochs" : fmt::format("{:.2g} % of the epochs", 100 * options_.share),
        plan.value("fits", true) ? "" : "; not everything fits"));
  }

  // One line per job and the time left.
  void list() {
    const std::vector<Record> records = all_records(workshop_, flags_);
    double left = 0;
    int64_t open = 0;
    Json jobs = Json::array();
    for (const Job& job : all_jobs()) {
      const bool done = is_done(records, job);
      const double seconds = done ? 0 : cost(records, job).of(job.identity.epochs());
      left += seconds;
      open += done ? 0 : 1;
      if (!common_.json)
        fmt::print("{:<44} {:>6} epochs  {}\n", label(job), job.identity.epochs(),
                   done ? "done" : "about " + duration_text(seconds));
      jobs.push_back({{"job", label(job)},
                      {"key", job_key(job.identity)},
                      {"epochs", job.identity.epochs()},
                      {"done", done},
                      {"seconds", seconds}});
    }
    if (common_.json)
      return print_json({{"experiment", experiment_.name}, {"jobs", jobs}, {"open", open}, {"seconds_left", left}});
    for (size_t r = 0; r < experiment_.rows.size(); ++r) {
      if (!states_[r].empty()) fmt::print("{:<44} {}\n", experiment_.rows[r].name, states_[r]);
    }
    for (const std::string& note : notes_) fmt::print("{}\n", note);
    fmt::print("{}: {} of {} jobs to do, about {}; nothing was run\n", experiment_.name, open, jobs.size(),
               duration_text(left));
  }

  // All jobs that are not done. Calls `after` when one has finished.
  void work(const std::function<void()>& after) {
    const auto start = Clock::now();
    const auto records = [&] { return all_records(workshop_, flags_); };
    share_jobs(workshop_, all_jobs(), stop_, records, [&](const Job& job, size_t number, size_t total) {
      run_job(job, start, fmt::format("[{}/{}] {}", number, total, label(job)));
      after();
    });
  }

  Summary summary() const {
    SummaryOptions options;
    const std::vector<Record> records = all_records(workshop_, flags_);
    options.any_epochs = flags_.table_only && flags_.epochs == 0;
    options.seeds = options_.seeds;
    options.job_of = [&](size_t row, size_t variant, int64_t seed) { return job_of(row, variant, seed, &records); };
    options.cell_state = [&](size_t row, size_t variant) {
      const auto place = failures_.find({row, variant});
      if (place != failures_.end()) return place->second;
      return !states_[row].empty() ? states_[row] : variant_states_[variant];
    };
    Summary summary = summarise(experiment_, records, options);
    summary.notes = notes_;
    return summary;
  }

  const std::map<std::pair<size_t, size_t>, std::string>& failures() const { return failures_; }
  int failure_code() const { return failure_code_; }
  const Experiment& experiment() const { return experiment_; }

  // Runs `graphpae spectrum` for every row; what it printed, or why not.
  std::string spectra() {
    std::string text;
    for (size_t r = 0; r < experiment_.rows.size(); ++r) {
      const ExperimentRow& row = experiment_.rows[r];
      const std::string directory = fmt::format("{}/{}-{}", workshop_.directory, experiment_.name, row.data.front());
      text += row.name + "\n\n";
      if (!fs::exists(directory + "/table.txt") && data_[r].here() && !flags_.table_only && !flags_.dry_run) {
        try {
          spdlog::info("{}: spectrum of {}", experiment_.name, row.name);
          std::vector<std::string> words = {"spectrum", data_[r].name, "--offline", "-o", directory, "--force"};
          for (const auto& [key, value] : row.set) words.insert(words.end(), {"--set", key + "=" + value});
          write_file(directory + "/table.txt", runner_.child(words, data_[r].place).out);
        } catch (const JobFailure& failure) {
          states_[r] = fmt::format("failed: {}", failure.what());
          failures_[{r, 0}] = states_[r];
          failure_code_ = failure.code();
        }
      }
      if (fs::exists(directory + "/table.txt"))
        text += read_file(directory + "/table.txt", 1 << 20);
      else
        text += (states_[r].empty() ? "not run yet" : states_[r]) + "\n";
    }
    return text;
  }

 private:
  void find_data() {
    const std::vector<std::string> places = data_places(flags_);
    const auto look = [&](const std::vector<std::string>& names, std::string& state) {
      FoundData found{names.front(), "", ""};
      try {
        found = runner_.find(names, places, !flags_.table_only && !experiment_.spectrum);
        if (!found.here() && !flags_.table_only) {
          std::vector<std::string> looked;
          for (const std::string& name : names) looked.push_back((flags_.data.empty() ? "" : flags_.data + "/") + name);
          state = fmt::format("not here: looked {}{}", flags_.data.empty() ? "in $GRAPHPAE_DATA for " : "for ",
                              fmt::join(looked, ", "));
        }
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::interrupted) throw;
        state = fmt::format("failed: {}", error.what());
      }
      return found;
    };
    states_.resize(experiment_.rows.size());
    variant_states_.resize(experiment_.variants.size());
    for (size_t r = 0; r < experiment_.rows.size(); ++r) data_.push_back(look(experiment_.rows[r].data, states_[r]));
    for (size_t v = 0; v < experiment_.variants.size(); ++v) {
      const auto& names = experiment_.variants[v].pretrain_data;
      pretrain_data_.push_back(names.empty() ? FoundData() : look(names, variant_states_[v]));
    }
  }

  bool can_run(size_t row, size_t variant) const { return states_[row].empty() && variant_states_[variant].empty(); }

  // Without the data at hand, a table is made of records under any of their names.
  Job job_of(size_t row, size_t variant, int64_t seed, const std::vector<Record>* records) const {
    Job job = make_job(experiment_, row, variant, seed, options_, data_[row], pretrain_data_[variant]);
    if (!flags_.table_only || records == nullptr) return job;
    for (const std::string& name : experiment_.rows[row].data) {
      for (const std::string& from : names_or_none(experiment_.variants[variant].pretrain_data)) {
        const Job other = make_job(experiment_, row, variant, seed, options_, {name, "", ""}, {from, "", ""});
        for (const Record& record : *records) {
          if (answers_but_for_seed_and_epochs(record, other.identity)) return other;
        }
      }
    }
    return job;
  }

  static std::vector<std::string> names_or_none(const std::vector<std::string>& names) {
    return names.empty() ? std::vector<std::string>{""} : names;
  }

  // Seeds first, so that a table is complete before it gets better.
  std::vector<Job> all_jobs() const {
    std::vector<Job> jobs;
    std::vector<std::string> keys;
    for (int64_t seed = 0; seed < options_.seeds; ++seed) {
      for (size_t r = 0; r < experiment_.rows.size(); ++r) {
        for (size_t v = 0; v < experiment_.variants.size(); ++v) {
          if (!can_run(r, v)) continue;
          Job job = job_of(r, v, seed, nullptr);
          const std::string key = job_key(job.identity);
          if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
          keys.push_back(key);
          jobs.push_back(std::move(job));
        }
      }
    }
    return jobs;
  }

  std::string label(const Job& job) const {
    return fmt::format("{}, {}, seed {}", experiment_.rows[job.row].name, experiment_.variants[job.variant].name,
                       job.identity.seed());
  }

  JobCost cost(const std::vector<Record>& records, const Job& job) {
    if (const auto known = recorded_cost(records, job.identity, processor_name())) return *known;
    auto place = guesses_.find(job.row);
    if (place == guesses_.end()) {
      try {
        place = guesses_.emplace(job.row, runner_.guess(job, data_[job.row])).first;
      } catch (const JobFailure&) {  // the job itself will say why
        place = guesses_.emplace(job.row, JobCost{}).first;
      }
    }
    return place->second;
  }

  std::vector<CellCost> cell_costs() {
    const std::vector<Record> records = all_records(workshop_, flags_);
    std::vector<CellCost> cells;
    std::vector<std::string> keys;
    for (size_t r = 0; r < experiment_.rows.size(); ++r) {
      for (size_t v = 0; v < experiment_.variants.size(); ++v) {
        if (!can_run(r, v)) continue;
        const Job first = job_of(r, v, 0, nullptr);
        const std::string key = job_key(first.identity);
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        keys.push_back(key);
        CellCost cell{cost(records, first), first.identity.epochs(), 0};
        while (cell.done_seeds < options_.seeds && is_done(records, job_of(r, v, cell.done_seeds, nullptr)))
          ++cell.done_seeds;
        cells.push_back(cell);
      }
    }
    return cells;
  }

  void run_job(const Job& job, Clock::time_point start, const std::string& title) {
    const std::pair<size_t, size_t> cell = {job.row, job.variant};
    const ExperimentVariant& variant = experiment_.variants[job.variant];
    if (deadline_ > 0) {
      const double needed = cost(all_records(workshop_, flags_), job).of(job.identity.epochs());
      if (seconds_since(start) + needed > 1.1 * deadline_) {
        failures_.emplace(cell,
                          fmt::format("not run: about {}, more than is left of the budget", duration_text(needed)));
        return;
      }
    }
    spdlog::info("{}", title);
    try {
      Record record = runner_.run(job, data_[job.row], pretrain_data_[job.variant], variant.baselines, "both",
                                  label(job), experiment_.rows[job.row].metric);
      record.experiment = experiment_.name;
      record.variant = variant.name;
      ResultLog(workshop_.results()).append(record);
      runner_.clean(job);
      spdlog::info("{}: done in {}", title, duration_text(record.seconds));
    } catch (const JobFailure& failure) {
      spdlog::error("{}: failed: {}", title, failure.what());
      failures_[cell] = fmt::format("failed: {}", failure.what());
      failure_code_ = failure.code();
    }
  }

  Experiment experiment_;
  const ReproduceFlags& flags_;
  const Common& common_;
  const Workshop& workshop_;
  JobRunner& runner_;
  const GracefulStop& stop_;
  JobOptions options_;
  double deadline_ = 0;                               // seconds after the start; 0 for none
  std::vector<FoundData> data_, pretrain_data_;       // of rows, of variants
  std::vector<std::string> states_, variant_states_;  // why rows and variants cannot be run
  std::vector<std::string> notes_;
  std::map<std::pair<size_t, size_t>, std::string> failures_;
  int failure_code_ = 0;
  std::map<size_t, JobCost> guesses_;  // by row
};

void write_outputs(const Workshop& workshop, const std::vector<Summary>& summaries, const std::string& spectra,
                   const std::string& title) {
  std::string markdown, csv;
  for (const Summary& summary : summaries) {
    markdown +=
        fmt::format("# {} ({})\n\n{}\n", summary.experiment.title, summary.experiment.paper, summary_markdown(summary));
    std::string lines = summary_csv(summary);
    csv += csv.empty() ? lines : lines.substr(lines.find('\n') + 1);
  }
  if (!spectra.empty()) markdown += fmt::format("# Spectra\n\n```\n{}```\n", spectra);
  write_file(workshop.directory + "/results.md", markdown);
  if (summaries.empty()) return;
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

void reproduce(const ReproduceFlags& flags, const Common& common) {
  std::vector<Experiment> wanted;
  if (flags.name == "all") {
    wanted = experiments();
  } else {
    wanted = {find_experiment(flags.name)};
  }
  if (!flags.budget.empty()) parse_duration(flags.budget);
  const Workshop workshop = workshop_of(flags);
  if (!flags.dry_run) workshop.create();
  const GracefulStop stop;
  Workshop dry = workshop;
  if (flags.dry_run && !fs::exists(workshop.directory)) dry.directory = fs::temp_directory_path().string();
  JobRunner runner(dry, common, stop);
  std::vector<Summary> summaries;
  std::string spectra;
  size_t failed = 0;
  int code = 0;
  for (Experiment& experiment : wanted) {
    if (flags.name == "all" && !flags.datasets.empty()) {  // experiments without the data are left out
      std::erase_if(experiment.rows, [&](const ExperimentRow& row) {
        return std::none_of(row.data.begin(), row.data.end(), [&](const std::string& name) {
          return std::find(flags.datasets.begin(), flags.datasets.end(), name) != flags.datasets.end();
        });
      });
      if (experiment.rows.empty()) continue;
    }
    Campaign campaign(experiment, flags, common, workshop, runner, stop);
    if (campaign.experiment().spectrum) {
      spectra += campaign.spectra();
    } else {
      campaign.plan();
      if (flags.dry_run) {
        campaign.list();
        continue;
      }
      const auto write = [&] {
        std::vector<Summary> all = summaries;
        all.push_back(campaign.summary());
        write_outputs(workshop, all, spectra, flags.name);
      };
      try {
        if (!flags.table_only) campaign.work(write);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::interrupted) throw;
        write();
        throw Error(ErrorKind::interrupted,
                    "interrupted; what is done is kept, and the same command goes on from there");
      }
      summaries.push_back(campaign.summary());
    }
    failed += campaign.failures().size();
    if (code == 0) code = campaign.failure_code();
  }
  if (flags.dry_run) return;
  write_outputs(workshop, summaries, spectra, flags.name);
  if (!flags.fill.empty()) write_file(flags.fill, fill_marks(read_file(flags.fill, 1 << 24), summaries));
  if (common.json) {
    Json json = Json::array();
    for (const Summary& summary : summaries) json.push_back(summary_json(summary));
    print_json(json.size() == 1 ? json[0] : json);
  } else {
    for (const Summary& summary : summaries) fmt::print("{}\n", summary_text(summary));
    fmt::print("{}", spectra);
    if (summaries.empty())
      fmt::print("{}/results.md\n", flags.output);
    else
      fmt::print("{0}/results.md, {0}/results.csv, {0}/report.html\n", flags.output);
  }
  if (code != 0)
    throw Error(static_cast<ErrorKind>(code <= 5 ? code : 1), fmt::format("{} cells of the table failed", failed));
}

}  // namespace

std::vector<std::string> data_places(const ReproduceFlags& flags) {
  if (!flags.data.empty()) return {flags.data};
  return default_fetch_options().places;
}

Workshop workshop_of(const ReproduceFlags& flags) {
  return {fs::absolute(flags.output).lexically_normal().string(), flags.keep_runs};
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
