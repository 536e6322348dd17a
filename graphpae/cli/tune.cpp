#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "graphpae/cli/reproduce.h"
#include "graphpae/core/error.h"
#include "graphpae/core/machine.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"
#include "graphpae/reproduce/search.h"
#include "graphpae/reproduce/table.h"
#include "graphpae/train/recipes.h"

namespace graphpae::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr uint64_t kSearchSeed = 1;
constexpr int64_t kTestSeeds = 2;  // unless --seeds says otherwise; none of them is the seed of the search
constexpr const char* kVerb = "tune";
constexpr double kSearchShare = 0.8;  // of the budget; the rest is for the test

struct Candidate {
  int64_t number = 0;
  std::optional<double> validation;
};

class Search {
 public:
  Search(const ReproduceFlags& flags, const Workshop& workshop, JobRunner& runner, const GracefulStop& stop)
      : flags_(flags), workshop_(workshop), runner_(runner), stop_(stop), start_(Clock::now()) {
    data_ = flags.table_only ? FoundData{flags.tune_data, "", ""}  // records are all it takes
                             : runner.find({flags.tune_data}, data_places(flags), true);
    if (!data_.here() && !flags.table_only)
      throw data_error(
          fmt::format("{}: not found in {}", flags.tune_data, flags.data.empty() ? "$GRAPHPAE_DATA" : flags.data));
    const bool own_recipe = std::any_of(recipes().begin(), recipes().end(),
                                        [&](const Recipe& recipe) { return recipe.name == flags.tune_data; });
    recipe_ = !flags.recipe.empty() ? flags.recipe : own_recipe ? flags.tune_data : "";
    if (recipe_.empty())
      throw usage_error(fmt::format("no recipe is called {}: --recipe says where the search starts", flags.tune_data));
    molecules_ = value_of(resolved_settings(recipe_, {}, false), "encoder") == "gated_gcn";
    test_seeds_ = flags.seeds > 0 ? flags.seeds : kTestSeeds;
    plan();
  }

  // The winner by validation score.
  int64_t run() {
    std::vector<int64_t> candidates;
    for (int64_t c = 0; c < candidates_; ++c) candidates.push_back(c);
    const std::vector<Rung> rungs = halving_rungs(candidates_, epochs_);
    for (size_t r = 0; r < rungs.size(); ++r) {
      const std::vector<Candidate> round = train_round(candidates, rungs[r], fmt::format("round {}", r + 1));
      std::vector<std::pair<int64_t, std::optional<double>>> scores;
      for (const Candidate& candidate : round) scores.emplace_back(candidate.number, candidate.validation);
      const int64_t keep = r + 1 < rungs.size() ? rungs[r + 1].candidates : 1;
      candidates = best_candidates(scores, keep, smaller_is_better(metric_));
      if (candidates.empty())
        throw Error(ErrorKind::numerical, fmt::format("{}: no candidate could be trained", flags_.tune_data));
      rounds_.push_back({rungs[r], round});
      spdlog::info("round {}: candidate {} is best, validation {} {}", r + 1, candidates.front(), metric_,
                   validation_text(candidates.front()));
    }
    return candidates.front();
  }

  // Winner and recipe on the test part, with seeds the search has not seen.
  Summary test(int64_t winner) {
    Experiment experiment = experiment_of({0, winner});
    experiment.title = fmt::format("Tuned settings of {}", flags_.tune_data);
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
      spdlog::info("{}", label);
      finish(runner_.run(job, data_, {}, false, "both", label, ""), experiment.variants[job.variant].name, job);
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
    std::string text = fmt::format("# {0}: settings found by `graphpae reproduce tune {0}`\n", flags_.tune_data);
    text += fmt::format("# Candidate {} of {}, starting from {}; up to {} epochs; chosen by validation {} alone: {}\n",
                        winner, candidates_, recipe_, epochs_, metric_, validation_text(winner));
    if (winner == 0) text += "# That is the recipe the search started from: nothing better was found.\n";
    text += verdict;
    for (const auto& [key, value] : search_job(winner, epochs_).identity.settings) {
      if (key != "seed" && !value.empty()) text += fmt::format("{}: {}\n", key, value);
    }
    return text;
  }

  std::string rounds_text() const {
    std::string text;
    for (const auto& [rung, candidates] : rounds_) {
      std::vector<Candidate> order = candidates;
      std::stable_sort(order.begin(), order.end(), [&](const Candidate& a, const Candidate& b) {
        if (!a.validation || !b.validation) return a.validation.has_value();
        return smaller_is_better(metric_) ? *a.validation < *b.validation : *a.validation > *b.validation;
      });
      const auto without = std::count_if(order.begin(), order.end(), [](const Candidate& c) { return !c.validation; });
      text += fmt::format("{} candidate{}, {} epoch{} each{}; validation {}:\n", order.size(),
                          order.size() == 1 ? "" : "s", rung.epochs, rung.epochs == 1 ? "" : "s",
                          without > 0 ? fmt::format(", {} of them failed or left out", without) : "", metric_);
      for (size_t k = 0; k < order.size() && k < 5; ++k) {
        std::string settings;
        for (const auto& [key, value] : draw_candidate(kSearchSeed, order[k].number, molecules_))
          settings += fmt::format(" {}={}", key, value);
        text += fmt::format("  {:>8}  candidate {:<3}{}\n", shown(order[k].validation), order[k].number,
                            settings.empty() ? " the recipe" : settings);
      }
      const auto own = std::find_if(order.begin(), order.end(), [](const Candidate& c) { return c.number == 0; });
      if (own - order.begin() >= 5 && own != order.end())
        text += fmt::format("  {:>8}  candidate 0   the recipe, at place {}\n", shown(own->validation),
                            own - order.begin() + 1);
    }
    return text;
  }

  // What --dry-run says.
  Json planned() {
    const JobCost cost = estimated_cost();
    const double seconds =
        search_seconds(halving_rungs(candidates_, epochs_), cost) + static_cast<double>(test_runs()) * cost.of(epochs_);
    return {{"candidates", candidates_}, {"epochs", epochs_}, {"test_runs", test_runs()}, {"seconds", seconds}};
  }

  int64_t candidates() const { return candidates_; }
  int64_t epochs() const { return epochs_; }
  const std::string& metric() const { return metric_; }

 private:
  struct Round {
    Rung rung;
    std::vector<Candidate> candidates;
  };

  static std::string value_of(const SettingList& settings, const std::string& key) {
    for (const auto& [name, value] : settings) {
      if (name == key) return value;
    }
    return "";
  }

  std::vector<Record> records() const { return all_records(workshop_, flags_); }

  std::string shown(const std::optional<double>& score) const {
    return score ? fmt::format("{:.{}f}", shown_factor(metric_) * *score, shown_decimals(metric_)) : "none";
  }
  std::string validation_text(int64_t number) const {
    if (rounds_.empty()) return "";
    for (const Candidate& candidate : rounds_.back().candidates) {
      if (candidate.number == number) return shown(candidate.validation);
    }
    return "";
  }

  // The data set with the settings of candidates as variants.
  Experiment experiment_of(const std::vector<int64_t>& candidates) const {
    Experiment experiment;
    experiment.name = experiment_name();
    experiment.rows = {ExperimentRow{flags_.tune_data, {data_.name}, recipe_, {}, "", {}, ""}};
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
  std::string experiment_name() const { return fmt::format("tune {}", flags_.tune_data); }

  // Runs what is not done yet; nothing if only a table is asked for.
  void share(const std::vector<Job>& jobs, const std::function<void(const Job&, size_t, size_t)>& run) {
    if (!flags_.table_only)
      share_jobs(
          workshop_, jobs, stop_, [&] { return records(); }, run);
  }

  void finish(Record record, const std::string& variant, const Job& job) {
    record.experiment = experiment_name();
    record.variant = variant;
    ResultLog(workshop_.results()).append(record);
    runner_.clean(job);
  }

  // Trains a candidate. Its record has the validation score and no other: nothing the search reads knows the test part.
  void train(const Job& job, const std::string& variant, const std::string& label) {
    Record record = runner_.run(job, data_, {}, false, "strict", label, "");
    for (auto& [name, protocol] : record.protocols) {
      protocol.scores.clear();
      protocol.baselines.clear();
    }
    finish(std::move(record), variant, job);
  }

  std::vector<Candidate> train_round(const std::vector<int64_t>& numbers, const Rung& rung, const std::string& round) {
    std::vector<Job> jobs;
    for (const int64_t number : numbers) jobs.push_back(search_job(number, rung.epochs));
    share(jobs, [&](const Job& job, size_t number, size_t total) {
      const std::string label =
          fmt::format("{}: {}/{}, candidate {}, {} epochs", round, number, total, job.variant, rung.epochs);
      // A search that takes longer than was thought is cut, but for the leader of each round.
      const bool leads = static_cast<int64_t>(job.variant) == numbers.front();
      if (!leads && seconds_since(start_) > kSearchShare * budget_) {
        spdlog::info("{}: left out, the time is used up", label);
        return;
      }
      spdlog::info("{}", label);
      try {
        train(job, fmt::format("candidate {} of {}", job.variant, candidates_), label);
      } catch (const JobFailure& failure) {
        spdlog::info("{}: failed: {}", label, failure.what());
      }
    });
    std::vector<Candidate> result;
    const std::vector<Record> known = records();
    for (const Job& job : jobs) {
      Candidate candidate{static_cast<int64_t>(job.variant), {}};
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
    if (flags_.table_only) return plan_from_records();
    budget_ = parse_duration(flags_.budget.empty() ? "1h" : flags_.budget);
    const std::string path = fmt::format("{}/plans/tune-{}.json", workshop_.directory, flags_.tune_data);
    const Json question = {
        {"budget", flags_.budget}, {"recipe", recipe_}, {"epochs", flags_.epochs}, {"seeds", test_seeds_}};
    // One process plans; others that share the search wait for what it finds.
    std::optional<JobLock> lock;
    if (!flags_.dry_run) lock = wait_for_lock(workshop_.lock("plan-tune-" + flags_.tune_data), stop_);
    const Json kept = fs::exists(path) ? Json::parse(read_file(path, 1 << 20), nullptr, false) : Json();
    if (kept.is_object() && kept.value("question", Json()) == question) {
      epochs_ = kept.at("epochs").get<int64_t>();
      candidates_ = kept.at("candidates").get<int64_t>();
    } else if (flags_.dry_run) {
      choose_size(estimated_cost());
    } else {
      choose_size(measured_cost());
      fs::create_directories(fs::path(path).parent_path());
      write_file(path, Json{{"question", question}, {"epochs", epochs_}, {"candidates", candidates_}}.dump(2) + "\n");
    }
    if (!flags_.dry_run)
      spdlog::info("{} candidates, up to {} epochs, then {} runs on the test part", candidates_, epochs_, test_runs());
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
    if (candidates_ == 0) throw data_error(fmt::format("{}: no search is recorded", flags_.tune_data));
  }

  int64_t full_epochs() const {
    return flags_.epochs > 0 ? flags_.epochs : std::stoll(value_of(resolved_settings(recipe_, {}, false), "epochs"));
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
      spdlog::info("trial: the recipe, {} epochs", trial);
      train(job, "trial", "trial");
    });
    return recorded_cost(records(), job.identity, processor_name()).value_or(guess);
  }

  // As many epochs as the test can have in a third of the time, and as many candidates as then fit.
  void choose_size(const JobCost& cost) {
    const int64_t full = full_epochs();
    const auto test = [&] { return static_cast<double>(test_runs()) * cost.of(epochs_); };
    epochs_ = full;
    for (double share = 1; flags_.epochs == 0 && epochs_ > 1 && test() > budget_ / 3; share *= 0.9)
      epochs_ = shared_epochs(full, share);
    candidates_ = plan_candidates(cost, epochs_, budget_ - seconds_since(start_) - test());
  }

  const ReproduceFlags& flags_;
  const Workshop& workshop_;
  JobRunner& runner_;
  const GracefulStop& stop_;
  Clock::time_point start_;
  FoundData data_;
  std::string recipe_, metric_ = "accuracy";
  bool molecules_ = false;
  int64_t test_seeds_ = kTestSeeds, epochs_ = 0, candidates_ = 0;
  double budget_ = 0;
  std::vector<Round> rounds_;
};

// What the test says about the winner.
std::string verdict_of(const Summary& summary) {
  if (summary.experiment.variants.size() < 2) return "the recipe itself won the search";
  for (const VariantComparison& c : summary.lines.back().comparisons) {
    if (c.protocol != "strict") continue;
    const std::string& metric = summary.lines.back().metric;
    const bool better = (c.difference.mean < 0) == smaller_is_better(metric) && c.difference.mean != 0;
    const std::string p = c.t_test ? fmt::format(", t-test p {:.2g}", *c.t_test) : "";
    const std::string difference = signed_text(shown_factor(metric) * c.difference.mean, shown_decimals(metric));
    return fmt::format("strict test {}: {} against the recipe, better on {} of {} {}{}: {}", metric, difference,
                       c.better, c.pairs, c.unit, p,
                       !better                        ? "not better"
                       : c.t_test && *c.t_test < 0.05 ? "better"
                                                      : "better, but not beyond chance");
  }
  return "not tested";
}

}  // namespace

void tune(const ReproduceFlags& flags, const Common& common) {
  if (flags.tune_data.empty()) throw usage_error("tune: which data? graphpae reproduce tune DATA --budget 2h");
  if (!flags.datasets.empty() || !flags.variants.empty())
    throw usage_error("tune takes one data set: --datasets and --variants are for tables");
  const GracefulStop stop;
  const Workshop workshop = workshop_of(flags);
  if (flags.dry_run) {
    const std::shared_ptr<const Workshop> scratch = temporary_workshop();
    JobRunner runner(*scratch, common, stop);
    const Json plan = Search(flags, workshop, runner, stop).planned();
    if (common.json) return print_json(plan);
    fmt::print("{} candidates, up to {} epochs, then {} runs on the test part: about {}; nothing was run\n",
               plan["candidates"].get<int64_t>(), plan["epochs"].get<int64_t>(), plan["test_runs"].get<int64_t>(),
               duration_text(plan["seconds"].get<double>()));
    return;
  }
  workshop.create();
  JobRunner runner(workshop, common, stop);
  const std::string output = fmt::format("{}/{}-tuned.yaml", workshop.directory, flags.tune_data);
  try {
    Search search(flags, workshop, runner, stop);
    const int64_t winner = search.run();
    const Summary summary = search.test(winner);
    const std::string verdict = verdict_of(summary), rounds = search.rounds_text();
    write_file(output, search.recipe_text(winner, "# " + verdict + "\n"));
    const std::string text = fmt::format("```\n{}```\n\n{}.\n\n{}", rounds, verdict, summary_markdown(summary));
    write_file(workshop.directory + "/results.md", fmt::format("# {}\n\n{}", summary.experiment.title, text));
    write_file(workshop.directory + "/results.csv", summary_csv(summary));
    write_file(workshop.directory + "/report.html", summary_html({summary}, summary.experiment.title));
    if (!flags.fill.empty())
      write_file(flags.fill, fill_mark(read_file(flags.fill, 1 << 24), summary.experiment.name, text));
    if (common.json) {
      print_json({{"recipe", output},
                  {"winner", winner},
                  {"candidates", search.candidates()},
                  {"epochs", search.epochs()},
                  {"metric", search.metric()},
                  {"verdict", verdict}});
      return;
    }
    fmt::print("{}\n{}\n{}\n\n{}: use it with --config\n", rounds, summary_text(summary), verdict, output);
  } catch (const JobFailure& failure) {
    throw Error(kind_of(failure.code()), failure.what());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    throw Error(ErrorKind::interrupted, kInterrupted);
  }
}

}  // namespace graphpae::cli
