#include "graphpae/reproduce/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/core/machine.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/reproduce/job_runner.h"
#include "graphpae/reproduce/search.h"
#include "graphpae/reproduce/table.h"
#include "graphpae/reproduce/tune_text.h"
#include "graphpae/settings/recipes.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr uint64_t kSearchSeed = 1;
constexpr int64_t kTestSeeds = 2;  // unless --seeds says otherwise; none of them is the seed of the search
constexpr const char* kVerb = "tune";
constexpr double kSearchShare = 0.8;  // of the budget; the rest is for the test

class Search {
 public:
  Search(const ReproduceOptions& options, const WorkDirectory& work, JobRunner& runner, const JobWatch& watch)
      : options_(options), work_(work), runner_(runner), watch_(watch) {
    data_ = options.table_only ? FoundData{options.tune_data, "", ""}  // records are all it takes
                               : runner.find({options.tune_data}, options.data);
    if (!data_.here() && !options.table_only)
      throw data_error(fmt::format("{}: not found in {}", options.tune_data,
                                   options.data.empty() ? "$GRAPHPAE_DATA" : options.data));
    const bool own_recipe = std::any_of(recipes().begin(), recipes().end(),
                                        [&](const Recipe& recipe) { return recipe.name == options.tune_data; });
    recipe_ = !options.recipe.empty() ? options.recipe : own_recipe ? options.tune_data : "";
    if (recipe_.empty())
      throw usage_error(
          fmt::format("no recipe is called {}: --recipe says where the search starts", options.tune_data));
    molecules_ = setting_of_recipe("encoder") == "gated_gcn";
    test_seeds_ = options.seeds > 0 ? options.seeds : kTestSeeds;
    plan();
  }

  // The winner by validation score.
  int64_t run() {
    std::vector<int64_t> candidates;
    for (int64_t c = 0; c < candidates_; ++c) candidates.push_back(c);
    const std::vector<Rung> rungs = halving_rungs(candidates_, epochs_);
    for (size_t r = 0; r < rungs.size(); ++r) {
      const std::vector<TuneCandidate> round = train_round(candidates, rungs[r], fmt::format("round {}", r + 1));
      std::vector<std::pair<int64_t, std::optional<double>>> scores;
      for (const TuneCandidate& candidate : round) scores.emplace_back(candidate.number, candidate.validation);
      const int64_t keep = r + 1 < rungs.size() ? rungs[r + 1].candidates : 1;
      candidates = best_candidates(scores, keep, smaller_is_better(metric_));
      if (candidates.empty())
        throw Error(ErrorKind::numerical, fmt::format("{}: no candidate could be trained", options_.tune_data));
      rounds_.push_back({rungs[r].epochs, round});
      watch_.tell(fmt::format("round {}: candidate {} is best, validation {} {}", r + 1, candidates.front(), metric_,
                              validation_text(candidates.front())));
    }
    return candidates.front();
  }

  // Winner and recipe on the test part, with seeds the search has not seen.
  Summary test(int64_t winner) {
    Experiment experiment = experiment_of({0, winner});
    experiment.title = fmt::format("Tuned settings of {}", options_.tune_data);
    experiment.seeds = test_seeds_;
    experiment.reference = "recipe";
    experiment.variants[0].name = "recipe";
    experiment.variants[1].name = "tuned";
    experiment.variants[1].note = fmt::format("candidate {} of {}, chosen by validation score", winner, candidates_);
    if (winner == 0) experiment.variants.pop_back();
    // Seeds 1, 2, ...: the search has looked at the validation scores of seed 0.
    std::vector<Job> jobs;
    for (int64_t seed = 1; seed <= test_seeds_; ++seed) {
      for (size_t v = 0; v < experiment.variants.size(); ++v) jobs.push_back(job_of(experiment, v, seed, epochs_));
    }
    share(jobs, [&](const Job& job, size_t number, size_t total) {
      const std::string label = fmt::format("test {}/{}: {}, seed {}", number, total,
                                            experiment.variants[job.variant].name, job.identity.seed());
      watch_.tell(label);
      finish(runner_.run({.job = job, .data = data_, .label = label}), experiment.variants[job.variant].name);
    });
    SummaryOptions options;
    options.seeds = test_seeds_ + 1;
    options.job_of = [&](size_t, size_t variant, int64_t) { return job_of(experiment, variant, 1, epochs_); };
    options.row_state = [](size_t) { return std::string(); };
    options.cell_state = [](size_t, size_t) { return std::string(); };
    // Records of seed 0 may be there from other experiments.
    std::vector<Record> fresh = records();
    std::erase_if(fresh, [](const Record& record) { return record.identity.seed() == 0; });
    return summarise(experiment, fresh, options);
  }

  // Every setting of a candidate, with the story of how it was found.
  std::string recipe_text(int64_t winner, const std::string& verdict) const {
    std::string text = fmt::format("# {0}: settings found by `graphpae reproduce tune {0}`\n", options_.tune_data);
    text += fmt::format("# Candidate {} of {}, starting from {}; up to {} epochs; chosen by validation {} alone: {}\n",
                        winner, candidates_, recipe_, epochs_, metric_, validation_text(winner));
    if (winner == 0) text += "# That is the recipe the search started from: nothing better was found.\n";
    text += verdict;
    for (const auto& [key, value] : search_job(winner, epochs_).identity.settings) {
      if (key != "seed" && !value.empty()) text += fmt::format("{}: {}\n", key, value);
    }
    return text;
  }

  // What a dry run says.
  TunePlan planned() {
    const JobCost cost = estimated_cost();
    const double seconds =
        search_seconds(halving_rungs(candidates_, epochs_), cost) + static_cast<double>(test_runs()) * cost.of(epochs_);
    return {candidates_, epochs_, test_runs(), seconds};
  }

  const std::vector<TuneRound>& rounds() const { return rounds_; }
  int64_t candidates() const { return candidates_; }
  int64_t epochs() const { return epochs_; }
  const std::string& metric() const { return metric_; }

 private:
  std::string setting_of_recipe(const std::string& key) const {
    return *find_setting(resolved_settings(recipe_, {}, false), key);
  }

  std::vector<Record> records() const { return all_records(work_, options_); }

  std::string validation_text(int64_t number) const {
    if (rounds_.empty()) return "";
    for (const TuneCandidate& candidate : rounds_.back().candidates) {
      if (candidate.number == number) return score_text(candidate.validation, metric_);
    }
    return "";
  }

  // The data set with the settings of candidates as variants.
  Experiment experiment_of(const std::vector<int64_t>& candidates) const {
    Experiment experiment;
    experiment.name = experiment_name();
    experiment.rows = {ExperimentRow{options_.tune_data, {data_.name}, recipe_, {}, "", {}, ""}};
    for (const int64_t number : candidates) {
      experiment.variants.emplace_back();
      experiment.variants.back().set = draw_candidate(kSearchSeed, number, molecules_);
    }
    return experiment;
  }

  Job job_of(const Experiment& experiment, size_t variant, int64_t seed, int64_t epochs) const {
    JobOptions options;
    options.epochs = epochs;
    return make_job(experiment, 0, variant, seed, options, data_, {});
  }

  Job search_job(int64_t number, int64_t epochs) const {
    Job job = job_of(experiment_of({number}), 0, 0, epochs);
    job.identity.verb = kVerb;
    job.variant = static_cast<size_t>(number);
    return job;
  }

  // As it is called.
  std::string experiment_name() const { return fmt::format("tune {}", options_.tune_data); }

  // Runs what is not done yet; nothing if only a table is asked for.
  void share(const std::vector<Job>& jobs, const std::function<void(const Job&, size_t, size_t)>& run) {
    if (!options_.table_only)
      share_jobs(
          work_, jobs, watch_, [&] { return records(); }, run);
  }

  void finish(Record record, const std::string& variant) {
    record.experiment = experiment_name();
    record.variant = variant;
    runner_.finish(record);
  }

  // Trains a candidate. Its record has the validation score and no other: nothing the search reads knows the test part.
  void train(const Job& job, const std::string& variant, const std::string& label) {
    Record record = runner_.run({.job = job, .data = data_, .protocol = "strict", .label = label});
    for (auto& [name, protocol] : record.protocols) {
      protocol.scores.clear();
      protocol.baselines.clear();
    }
    finish(std::move(record), variant);
  }

  std::vector<TuneCandidate> train_round(const std::vector<int64_t>& numbers, const Rung& rung,
                                         const std::string& round) {
    std::vector<Job> jobs;
    for (const int64_t number : numbers) jobs.push_back(search_job(number, rung.epochs));
    share(jobs, [&](const Job& job, size_t number, size_t total) {
      const std::string label =
          fmt::format("{}: {}/{}, candidate {}, {} epochs", round, number, total, job.variant, rung.epochs);
      // A search that takes longer than was thought is cut, but for the leader of each round.
      const bool leads = static_cast<int64_t>(job.variant) == numbers.front();
      if (!leads && clock_.seconds() > kSearchShare * budget_) {
        watch_.tell(fmt::format("{}: left out, the time is used up", label));
        return;
      }
      watch_.tell(label);
      try {
        train(job, fmt::format("candidate {} of {}", job.variant, candidates_), label);
      } catch (const JobFailure& failure) {
        watch_.tell(fmt::format("{}: failed: {}", label, failure.what()));
      }
    });
    std::vector<TuneCandidate> result;
    const std::vector<Record> known = records();
    for (const Job& job : jobs) {
      const int64_t number = static_cast<int64_t>(job.variant);
      TuneCandidate candidate{number, draw_candidate(kSearchSeed, number, molecules_), {}};
      for (const Record& record : known) {
        if (!answers(record, job.identity)) continue;
        metric_ = record.metric;
        candidate.validation = record.protocols.at("strict").validation;
      }
      result.push_back(candidate);
    }
    return result;
  }

  // Epochs and candidates that fit; kept, so that an interrupted search goes on as the same search.
  void plan() {
    if (options_.table_only) return plan_from_records();
    budget_ = parse_duration(options_.budget.empty() ? "1h" : options_.budget);
    const std::string path = work_.plan("tune-" + options_.tune_data);
    const Json question = {
        {"budget", options_.budget}, {"recipe", recipe_}, {"epochs", options_.epochs}, {"seeds", test_seeds_}};
    // One process plans; others that share the search wait for what it finds.
    std::optional<JobLock> lock;
    if (!options_.dry_run) lock = wait_for_lock(work_.lock("plan-tune-" + options_.tune_data), watch_);
    const Json kept = fs::exists(path) ? Json::parse(read_file(path, 1 << 20), nullptr, false) : Json();
    if (kept.is_object() && kept.value("question", Json()) == question) {
      epochs_ = kept.at("epochs").get<int64_t>();
      candidates_ = kept.at("candidates").get<int64_t>();
    } else if (options_.dry_run) {
      choose_size(estimated_cost());
    } else {
      choose_size(measured_cost());
      fs::create_directories(fs::path(path).parent_path());
      write_file(path, Json{{"question", question}, {"epochs", epochs_}, {"candidates", candidates_}}.dump(2) + "\n");
    }
    if (!options_.dry_run)
      watch_.tell(fmt::format("{} candidates, up to {} epochs, then {} runs on the test part", candidates_, epochs_,
                              test_runs()));
  }

  // As it was, as far as the records of a search tell.
  void plan_from_records() {
    for (const Record& record : records()) {
      if (record.identity.verb != kVerb || record.identity.data != data_.name) continue;
      long long number = 0, planned = 0;
      const int found = std::sscanf(record.variant.c_str(), "candidate %lld of %lld", &number, &planned);
      if (found < 1) continue;  // the trial
      epochs_ = std::max(epochs_, record.identity.epochs());
      candidates_ = std::max<int64_t>({candidates_, number + 1, planned});
    }
    if (candidates_ == 0) throw data_error(fmt::format("{}: no search is recorded", options_.tune_data));
  }

  int64_t full_epochs() const {
    return options_.epochs > 0 ? options_.epochs : std::stoll(setting_of_recipe("epochs"));
  }
  int64_t test_runs() const { return 2 * test_seeds_; }

  // From earlier records, or a guess.
  JobCost estimated_cost() {
    const Job job = search_job(0, full_epochs());
    if (const auto cost = recorded_cost(records(), job.identity, processor_name())) return *cost;
    return runner_.guess(job, data_, false);
  }

  // A short run of the recipe shows how long runs take.
  JobCost measured_cost() {
    const int64_t full = full_epochs();
    const JobCost guess = runner_.guess(search_job(0, full), data_, false);
    int64_t trial = halving_rungs(1, full).front().epochs;
    while (trial > 1 && guess.per_epoch * static_cast<double>(trial) > budget_ / 4) trial /= 2;
    const Job job = search_job(0, trial);
    share({job}, [&](const Job&, size_t, size_t) {
      watch_.tell(fmt::format("trial: the recipe, {} epochs", trial));
      train(job, "trial", "trial");
    });
    return recorded_cost(records(), job.identity, processor_name()).value_or(guess);
  }

  // As many epochs as the test can have in a third of the time, and as many candidates as then fit.
  void choose_size(const JobCost& cost) {
    const int64_t full = full_epochs();
    const auto test = [&] { return static_cast<double>(test_runs()) * cost.of(epochs_); };
    epochs_ = full;
    for (double share = 1; options_.epochs == 0 && epochs_ > 1 && test() > budget_ / 3; share *= 0.9)
      epochs_ = shared_epochs(full, share);
    candidates_ = plan_candidates(cost, epochs_, budget_ - clock_.seconds() - test());
  }

  const ReproduceOptions& options_;
  const WorkDirectory& work_;
  JobRunner& runner_;
  const JobWatch& watch_;
  Stopwatch clock_;
  FoundData data_;
  std::string recipe_, metric_ = "accuracy";
  bool molecules_ = false;
  int64_t test_seeds_ = kTestSeeds, epochs_ = 0, candidates_ = 0;
  double budget_ = 0;
  std::vector<TuneRound> rounds_;
};

void check(const ReproduceOptions& options) {
  if (options.tune_data.empty()) throw usage_error("tune: which data? graphpae reproduce tune DATA --budget 2h");
  if (!options.datasets.empty() || !options.variants.empty())
    throw usage_error("tune takes one data set: --datasets and --variants are for tables");
}

}  // namespace

TunePlan plan_tuning(const ReproduceOptions& options, const JobWatch& watch) {
  check(options);
  const std::shared_ptr<const WorkDirectory> scratch = temporary_work_directory();
  const WorkDirectory work = work_directory_of(options);
  JobRunner runner(*scratch, options.threads, watch);
  return Search(options, work, runner, watch).planned();
}

TuneResult tune(const ReproduceOptions& options, const JobWatch& watch) {
  check(options);
  const WorkDirectory work = work_directory_of(options);
  work.create();
  JobRunner runner(work, options.threads, watch);
  try {
    Search search(options, work, runner, watch);
    TuneResult result;
    result.winner = search.run();
    result.summary = search.test(result.winner);
    result.verdict = verdict_of(result.summary);
    result.rounds = search.rounds();
    result.candidates = search.candidates();
    result.epochs = search.epochs();
    result.metric = search.metric();
    result.recipe_file = fmt::format("{}/{}-tuned.yaml", work.path, options.tune_data);
    const Summary& summary = result.summary;
    write_file(result.recipe_file, search.recipe_text(result.winner, "# " + result.verdict + "\n"));
    const std::string text = fmt::format("```\n{}```\n\n{}.\n\n{}", rounds_text(result.rounds, result.metric),
                                         result.verdict, summary_markdown(summary));
    write_file(work.path + "/results.md", fmt::format("# {}\n\n{}", summary.experiment.title, text));
    write_file(work.path + "/results.csv", summary_csv(summary));
    write_file(work.path + "/report.html", summary_html({summary}, summary.experiment.title));
    if (!options.fill.empty())
      write_file(options.fill, fill_mark(read_file(options.fill, 1 << 24), summary.experiment.name, text));
    return result;
  } catch (const JobFailure& failure) {
    throw Error(kind_of(failure.code()), failure.what());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    throw Error(ErrorKind::interrupted, kKeptWhenInterrupted);
  }
}

}  // namespace graphpae
