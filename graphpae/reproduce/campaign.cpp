#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "graphpae/core/error.h"
#include "graphpae/core/machine.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/reproduce/reproduce.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A run that is guessed to take a little more than what is left may still be tried.
constexpr double kTolerance = 1.1;
constexpr const char* kFailed = "failed: ";

}  // namespace

Campaign::Campaign(Experiment experiment, const WorkDirectory& work, JobRunner& runner)
    : experiment_(std::move(experiment)), work_(work), options_(work.options()), watch_(work.watch()), runner_(runner) {
  keep_rows(experiment_, options_.datasets);
  if (!all_variants()) keep_variants(experiment_, options_.variants);
  job_options_.seeds = options_.seeds > 0 ? options_.seeds : experiment_.seeds;
  job_options_.epochs = options_.epochs;
  if (options_.epochs > 0)
    notes_.push_back(fmt::format("--epochs {}: not the epochs of the recipes.", options_.epochs));
  for (const ExperimentRow& row : experiment_.rows) data_.push_back(look_for(row.data));
  for (const ExperimentVariant& variant : experiment_.variants)
    pretrain_data_.push_back(variant.pretrain_data.empty() ? FoundData() : look_for(variant.pretrain_data));
}

FoundData Campaign::look_for(const std::vector<std::string>& names) const {
  FoundData found{names.front(), "", ""};
  if (options_.table_only) return found;  // records are all it takes
  try {
    found = runner_.find(names);
    if (found.here()) return found;
    std::vector<std::string> looked;
    for (const std::string& name : names) looked.push_back((options_.data.empty() ? "" : options_.data + "/") + name);
    found.state = fmt::format("not here: looked {}{}", options_.data.empty() ? "in $GRAPHPAE_DATA for " : "for ",
                              fmt::join(looked, ", "));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    found.state = fmt::format("{}{}", kFailed, error.what());
  }
  return found;
}

void Campaign::plan(double seconds) {
  clock_.restart();
  deadline_ = seconds;
  std::vector<Job> cells = all_jobs();
  std::erase_if(cells, [](const Job& job) { return job.identity.seed() > 0; });
  std::vector<std::string> keys;
  for (const Job& job : cells) keys.push_back(job_key(job.identity));
  const Json question = {
      {"budget", options_.budget}, {"seeds", options_.seeds}, {"epochs", options_.epochs}, {"cells", keys}};
  const Json plan = work_.plan(experiment_.name, question, [&](Json& made) {
    const std::vector<CellCost> costs = cell_costs(cells);
    const BudgetPlan found = plan_budget(costs, job_options_.seeds, std::max(1.0, seconds - clock_.seconds()));
    made.update({{"seeds", found.seeds}, {"share", found.share}, {"left_out", Json::array()}});
    bool does_something = found.share >= 1;
    for (size_t c = 0; c < keys.size(); ++c) {
      if (found.left_out[c])
        made["left_out"].push_back(keys[c]);
      else
        does_something |= costs[c].done_seeds == 0;
    }
    return does_something;  // a plan to do nothing is not kept: the same call may have more time later
  });
  mark_cells(plan.at("left_out").get<std::set<std::string>>());
  const int64_t wanted = job_options_.seeds;
  job_options_.seeds = plan.at("seeds").get<int64_t>();
  job_options_.share = plan.at("share").get<double>();
  notes_.push_back(fmt::format(
      "--budget {}: {} of {} seed{}, {}{}.", options_.budget, job_options_.seeds, wanted, wanted == 1 ? "" : "s",
      job_options_.share >= 1 ? "all epochs"
                              : fmt::format("{:.2g} % of the epochs{}", 100 * job_options_.share,
                                            whole_.empty() ? "" : " where no run with all of them is done"),
      left_out_.empty() ? "" : "; not everything fits"));
}

// Several cells may ask for the same job. `left_out` are keys of jobs with all their epochs.
void Campaign::mark_cells(const std::set<std::string>& left_out) {
  const std::vector<Record> known = work_.records();
  for (size_t r = 0; r < experiment_.rows.size(); ++r) {
    for (size_t v = 0; v < experiment_.variants.size(); ++v) {
      if (!can_run(r, v)) continue;
      const Job job = job_of(r, v, 0);
      if (is_done(known, job)) whole_.insert({r, v});
      if (left_out.contains(job_key(job.identity))) left_out_.insert({r, v});
    }
  }
}

int64_t CampaignPlan::open() const {
  return std::count_if(jobs.begin(), jobs.end(), [](const PlannedJob& job) { return !job.done; });
}

double CampaignPlan::seconds() const {
  double sum = 0;
  for (const PlannedJob& job : jobs) sum += job.seconds;
  return sum;
}

CampaignPlan Campaign::list() {
  CampaignPlan plan{experiment_.name, {}, {}, notes_};
  const std::vector<Record> known = work_.records();
  for (const Job& job : all_jobs()) {
    const bool done = is_done(known, job);
    plan.jobs.push_back(
        {label(job), job_key(job.identity), job.identity.epochs(), done, done ? 0 : seconds_of(known, job)});
  }
  const auto add_missing = [&](const auto& items, const std::vector<FoundData>& found) {
    for (size_t k = 0; k < items.size(); ++k) {
      if (!found[k].state.empty()) plan.missing.emplace_back(items[k].name, found[k].state);
    }
  };
  add_missing(experiment_.rows, data_);
  add_missing(experiment_.variants, pretrain_data_);
  return plan;
}

void Campaign::work(const std::function<void()>& after) {
  work_.share(all_jobs(), [&](const Job& job, size_t number, size_t total) {
    run_job(job, fmt::format("[{}/{}] {}", number, total, label(job)));
    after();
  });
}

std::vector<SpectrumOfRow> Campaign::spectra() {
  std::vector<SpectrumOfRow> found;
  for (size_t r = 0; r < experiment_.rows.size(); ++r) {
    const ExperimentRow& row = experiment_.rows[r];
    const std::string directory = fmt::format("{}/{}-{}", work_.path(), experiment_.name, row.data.front());
    std::string& state = data_[r].state;
    const std::string table = directory + "/table.txt";
    if (data_[r].here() && !options_.table_only) {
      try {
        run_spectrum(r, directory);
      } catch (const JobFailure& failure) {
        fail(row.name, failure);
        state = failures_[row.name];
      }
    }
    if (state.empty() && fs::exists(table))
      found.push_back({row.name, directory, read_file(table, 1 << 20)});
    else
      found.push_back({row.name, "", (state.empty() ? "not run yet" : state) + "\n"});
  }
  return found;
}

// Nothing if it is there already. One process does it.
void Campaign::run_spectrum(size_t row, const std::string& directory) {
  const SettingList& set = experiment_.rows[row].set;
  const std::string key = job_key({"spectrum", data_[row].name, data_[row].hash, "", set});
  const JobLock lock = work_.lock(fs::path(directory).filename());
  const std::string kept = directory + "/key.txt";  // written last
  if (fs::exists(kept) && read_file(kept, 1 << 10) == key) return;
  watch_.tell(fmt::format("{}: spectrum of {}", experiment_.name, experiment_.rows[row].name));
  std::vector<std::string> words = {"spectrum", data_[row].name, "--offline", "-o", directory, "--force"};
  for (const auto& [name, value] : set) words.insert(words.end(), {"--set", name + "=" + value});
  const std::string printed = runner_.child(words, data_[row].place);
  write_file(directory + "/table.txt", printed);
  write_file(kept, key);
}

Summary Campaign::summary() const {
  const std::vector<Record> known = work_.records();
  SummaryOptions options;
  options.any_epochs = options_.table_only && options_.epochs == 0;
  options.seeds = job_options_.seeds;
  options.job_of = [&](size_t row, size_t variant, int64_t seed) { return job_among(known, row, variant, seed); };
  options.row_state = [&](size_t row) { return data_[row].state; };
  options.cell_state = [&](size_t row, size_t variant) {
    for (int64_t seed = 0; seed < job_options_.seeds && can_run(row, variant); ++seed) {
      if (const std::string* why = value_at(failures_, job_key(job_of(row, variant, seed).identity))) return *why;
    }
    return pretrain_data_[variant].state;
  };
  Summary summary = summarise(experiment_, known, options);
  summary.notes = notes_;
  note_failures(summary);
  if (all_variants()) {
    std::erase_if(summary.lines, [&](const SummaryLine& line) {
      return line.protocols.empty() && !experiment_.variants[line.variant].by_default;
    });
  }
  return summary;
}

// Seeds that failed where others did not: a line without scores says by itself why it has none.
void Campaign::note_failures(Summary& summary) const {
  if (failures_.empty()) return;
  for (const SummaryLine& line : summary.lines) {
    if (line.protocols.empty() || !can_run(line.row, line.variant)) continue;
    if (!line.target.empty() && line.target != experiment_.rows[line.row].targets.front()) continue;  // the same runs
    for (int64_t seed = 0; seed < job_options_.seeds; ++seed) {
      const Job job = job_of(line.row, line.variant, seed);
      const std::string* why = value_at(failures_, job_key(job.identity));
      if (why != nullptr && why->starts_with(kFailed)) summary.notes.push_back(fmt::format("{}: {}", label(job), *why));
    }
  }
}

Job Campaign::job_of(size_t row, size_t variant, int64_t seed) const {
  JobOptions options = job_options_;
  if (whole_.contains({row, variant})) options.share = 1;
  return make_job(experiment_, row, variant, seed, options, data_[row], pretrain_data_[variant]);
}

// Without the data at hand, a table is made of records under any of their names.
Job Campaign::job_among(const std::vector<Record>& known, size_t row, size_t variant, int64_t seed) const {
  if (!options_.table_only) return job_of(row, variant, seed);
  std::vector<std::string> from = experiment_.variants[variant].pretrain_data;
  if (from.empty()) from.emplace_back();
  for (const std::string& name : experiment_.rows[row].data) {
    for (const std::string& pretrain_name : from) {
      const Job job = make_job(experiment_, row, variant, seed, job_options_, {name, "", ""}, {pretrain_name, "", ""});
      if (std::any_of(known.begin(), known.end(),
                      [&](const Record& record) { return answers_but_for_seed_and_epochs(record, job.identity); }))
        return job;
    }
  }
  return job_of(row, variant, seed);
}

// Seeds first, so that a table is complete before it gets better. Variants may ask for the same job.
std::vector<Job> Campaign::all_jobs() const {
  std::vector<Job> jobs;
  std::vector<std::string> keys;
  for (int64_t seed = 0; seed < job_options_.seeds; ++seed) {
    for (size_t r = 0; r < experiment_.rows.size(); ++r) {
      for (size_t v = 0; v < experiment_.variants.size(); ++v) {
        if (!can_run(r, v)) continue;
        Job job = job_of(r, v, seed);
        const std::string key = job_key(job.identity);
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        keys.push_back(key);
        jobs.push_back(std::move(job));
      }
    }
  }
  return jobs;
}

std::string Campaign::label(const Job& job) const {
  return fmt::format("{}, {}, seed {}", experiment_.rows[job.row].name, experiment_.variants[job.variant].name,
                     job.identity.seed());
}

// Made once; nothing if it fails, as the job itself will say why.
JobCost Campaign::guess(std::map<size_t, JobCost>& made, size_t number, const Training& job, bool trial) {
  const auto [place, is_new] = made.try_emplace(number);
  try {
    if (is_new) place->second = runner_.guess(job, trial);
  } catch (const JobFailure&) {
  }
  return place->second;
}

JobCost Campaign::cost(const std::vector<Record>& known, const Job& job) {
  if (const auto recorded = recorded_cost(known, job.identity, processor_name())) return *recorded;
  return guess(guesses_, job.row, job, !options_.budget.empty());
}

JobCost Campaign::cost_before(const Job& job) {
  if (!job.pretrain || fs::exists(work_.run(job_key(job.pretrain->identity)) + "/results.json")) return {};
  return guess(guesses_before_, job.variant, *job.pretrain, false);
}

double Campaign::seconds_of(const std::vector<Record>& known, const Job& job) {
  const double before = job.pretrain ? cost_before(job).of(job.pretrain->identity.epochs()) : 0;
  return before + cost(known, job).of(job.identity.epochs());
}

std::vector<CellCost> Campaign::cell_costs(const std::vector<Job>& first) {
  const std::vector<Record> known = work_.records();
  std::vector<CellCost> cells;
  for (const Job& job : first) {
    CellCost cell{cost(known, job), job.identity.epochs(), 0, cost_before(job),
                  job.pretrain ? job.pretrain->identity.epochs() : 0};
    while (cell.done_seeds < job_options_.seeds && is_done(known, job_of(job.row, job.variant, cell.done_seeds)))
      ++cell.done_seeds;
    cells.push_back(cell);
  }
  return cells;
}

void Campaign::run_job(const Job& job, const std::string& title) {
  const std::string key = job_key(job.identity);
  if (deadline_ > 0) {
    const double needed = seconds_of(work_.records(), job);
    if (left_out_.contains({job.row, job.variant}) || clock_.seconds() + needed > kTolerance * deadline_) {
      failures_[key] = fmt::format("not run: about {}, more than is left of the budget", duration_text(needed));
      return;
    }
  }
  watch_.tell(title);
  try {
    Record record = runner_.run(job, label(job));
    record.experiment = experiment_.name;
    record.variant = experiment_.variants[job.variant].name;
    work_.finish(record);
    watch_.tell(fmt::format("{}: done in {}", title, duration_text(record.seconds)));
  } catch (const JobFailure& failure) {
    if (watch_.failure) watch_.failure(fmt::format("{}: failed: {}", title, failure.what()));
    fail(key, failure);
  }
}

void Campaign::fail(const std::string& key, const JobFailure& failure) {
  failures_[key] = fmt::format("{}{}", kFailed, failure.what());
  failure_kind_ = failure.kind();
  ++failed_;
}

}  // namespace graphpae
