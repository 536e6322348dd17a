#include "graphpae/reproduce/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/core/machine.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"
#include "graphpae/reproduce/job_runner.h"
#include "graphpae/settings/recipes.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kSearchSeed = 1;
constexpr int64_t kTestSeeds = 2;  // unless --seeds says otherwise; none of them is the seed of the search
constexpr const char* kVerb = "tune";
constexpr double kSearchShare = 0.8;  // of the budget; the rest is for the test

// "none" if there is none.
std::string score_text(const std::optional<double>& score, const std::string& metric) {
  return score ? fmt::format("{:.{}f}", shown_factor(metric) * *score, shown_decimals(metric)) : "none";
}

// What the test says about the winner, in a line.
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

class Search {
 public:
  explicit Search(const WorkDirectory& work)
      : work_(work), options_(work.options()), watch_(work.watch()), runner_(work) {
    data_ = options_.table_only ? FoundData{options_.tune_data, "", ""}  // records are all it takes
                                : runner_.find({options_.tune_data});
    if (!data_.here() && !options_.table_only)
      throw data_error(fmt::format("{}: not found in {}", options_.tune_data,
                                   options_.data.empty() ? "$GRAPHPAE_DATA" : options_.data));
    const bool own_recipe = std::any_of(recipes().begin(), recipes().end(),
                                        [&](const Recipe& recipe) { return recipe.name == options_.tune_data; });
    recipe_ = !options_.recipe.empty() ? options_.recipe : own_recipe ? options_.tune_data : "";
    if (recipe_.empty())
      throw usage_error(
          fmt::format("no recipe is called {}: --recipe says where the search starts", options_.tune_data));
    molecules_ = setting_of_recipe("encoder") == "gated_gcn";
    test_seeds_ = options_.seeds > 0 ? options_.seeds : kTestSeeds;
    plan();
  }

  // The winner by validation score, and what the test says about it.
  const TuneResult& run() {
    std::vector<int64_t> numbers(static_cast<size_t>(result_.candidates));
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::vector<Rung> rungs = halving_rungs(result_.candidates, result_.epochs);
    for (size_t r = 0; r < rungs.size(); ++r) {
      const std::string title = fmt::format("round {}", r + 1);
      const std::vector<TuneCandidate> round = train_round(numbers, rungs[r].epochs, title);
      const int64_t keep = r + 1 < rungs.size() ? rungs[r + 1].candidates : 1;
      numbers = best_candidates(round, keep, smaller_is_better(result_.metric));
      if (numbers.empty())
        throw Error(ErrorKind::numerical, fmt::format("{}: no candidate could be trained", options_.tune_data));
      result_.rounds.push_back({rungs[r].epochs, round});
      result_.winner = numbers.front();
      watch_.tell(fmt::format("{}: candidate {} is best, validation {} {}", title, result_.winner, result_.metric,
                              validation_text()));
    }
    result_.summary = test();
    result_.verdict = verdict_of(result_.summary);
    return result_;
  }

  // Every setting of the winner, with the story of how it was found.
  std::string recipe_text() const {
    std::string text = fmt::format("# {0}: settings found by `graphpae reproduce tune {0}`\n", options_.tune_data);
    text += fmt::format("# Candidate {} of {}, starting from {}; up to {} epochs; chosen by validation {} alone: {}\n",
                        result_.winner, result_.candidates, recipe_, result_.epochs, result_.metric, validation_text());
    if (result_.winner == 0) text += "# That is the recipe the search started from: nothing better was found.\n";
    text += "# " + result_.verdict + "\n";
    for (const auto& [key, value] : search_job(result_.winner, result_.epochs).identity.settings) {
      if (key != "seed" && !value.empty()) text += fmt::format("{}: {}\n", key, value);
    }
    return text;
  }

  // What a dry run says.
  TunePlan planned() {
    const JobCost cost = estimated_cost();
    const double seconds = search_seconds(halving_rungs(result_.candidates, result_.epochs), cost) +
                           static_cast<double>(test_runs()) * cost.of(result_.epochs);
    return {result_.candidates, result_.epochs, test_runs(), seconds};
  }

 private:
  std::string setting_of_recipe(const std::string& key) const {
    return *find_setting(resolved_settings(recipe_, {}, false), key);
  }

  // Of the winner so far.
  std::string validation_text() const {
    for (const TuneCandidate& candidate : result_.rounds.back().candidates) {
      if (candidate.number == result_.winner) return score_text(candidate.validation, result_.metric);
    }
    return "";
  }

  // The data set with the settings of candidates as variants.
  Experiment experiment_of(const std::vector<int64_t>& candidates) const {
    Experiment experiment;
    experiment.name = fmt::format("tune {}", options_.tune_data);  // as it is called
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
    job.protocol = "strict";
    job.variant = static_cast<size_t>(number);
    return job;
  }

  // Runs what is not done yet; nothing if only a table is asked for.
  void share(const std::vector<Job>& jobs, const std::function<void(const Job&, size_t, size_t)>& run) {
    if (!options_.table_only) work_.share(jobs, run);
  }

  void run_job(const Job& job, const std::string& variant, const std::string& label) {
    Record record = runner_.run(job, label);
    record.experiment = fmt::format("tune {}", options_.tune_data);
    record.variant = variant;
    // The record of a candidate has the validation score and no other: nothing the search reads knows the test part.
    for (auto& [name, protocol] : record.protocols) {
      if (job.identity.verb != kVerb) continue;
      protocol.scores.clear();
      protocol.baselines.clear();
    }
    work_.finish(record);
  }

  std::vector<TuneCandidate> train_round(const std::vector<int64_t>& numbers, int64_t epochs,
                                         const std::string& round) {
    std::vector<Job> jobs;
    for (const int64_t number : numbers) jobs.push_back(search_job(number, epochs));
    share(jobs, [&](const Job& job, size_t number, size_t total) {
      const std::string label =
          fmt::format("{}: {}/{}, candidate {}, {} epochs", round, number, total, job.variant, epochs);
      // A search that takes longer than was thought is cut, but for the leader of each round.
      const bool leads = static_cast<int64_t>(job.variant) == numbers.front();
      if (!leads && clock_.seconds() > kSearchShare * budget_) {
        watch_.tell(fmt::format("{}: left out, the time is used up", label));
        return;
      }
      watch_.tell(label);
      try {
        run_job(job, fmt::format("candidate {} of {}", job.variant, result_.candidates), label);
      } catch (const JobFailure& failure) {
        watch_.tell(fmt::format("{}: failed: {}", label, failure.what()));
      }
    });
    std::vector<TuneCandidate> result;
    const std::vector<Record> known = work_.records();
    for (const Job& job : jobs) {
      const int64_t number = static_cast<int64_t>(job.variant);
      result.push_back({number, draw_candidate(kSearchSeed, number, molecules_)});
      for (const Record& record : known) {
        if (!answers(record, job.identity)) continue;
        result_.metric = record.metric;
        result.back().validation = record.protocols.at("strict").validation;
      }
    }
    return result;
  }

  // Winner and recipe on the test part, with seeds the search has not seen.
  Summary test() {
    const int64_t winner = result_.winner, epochs = result_.epochs;
    Experiment experiment = experiment_of({0, winner});
    experiment.title = fmt::format("Tuned settings of {}", options_.tune_data);
    experiment.seeds = test_seeds_;
    experiment.reference = "recipe";
    experiment.variants[0].name = "recipe";
    experiment.variants[1].name = "tuned";
    experiment.variants[1].note =
        fmt::format("candidate {} of {}, chosen by validation score", winner, result_.candidates);
    if (winner == 0) experiment.variants.pop_back();
    // Seeds 1, 2, ...: the search has looked at the validation scores of seed 0.
    std::vector<Job> jobs;
    for (int64_t seed = 1; seed <= test_seeds_; ++seed) {
      for (size_t v = 0; v < experiment.variants.size(); ++v) jobs.push_back(job_of(experiment, v, seed, epochs));
    }
    share(jobs, [&](const Job& job, size_t number, size_t total) {
      const std::string& variant = experiment.variants[job.variant].name;
      const std::string label = fmt::format("test {}/{}: {}, seed {}", number, total, variant, job.identity.seed());
      watch_.tell(label);
      run_job(job, variant, label);
    });
    SummaryOptions options;
    options.seeds = test_seeds_ + 1;
    options.job_of = [&](size_t, size_t variant, int64_t) { return job_of(experiment, variant, 1, epochs); };
    // Records of seed 0 may be there from other experiments.
    std::vector<Record> fresh = work_.records();
    std::erase_if(fresh, [](const Record& record) { return record.identity.seed() == 0; });
    return summarise(experiment, fresh, options);
  }

  // Epochs and candidates that fit; kept, so that an interrupted search goes on as the same search.
  void plan() {
    if (options_.table_only) return plan_from_records();
    budget_ = parse_duration(options_.budget.empty() ? "1h" : options_.budget);
    const Json question = {
        {"budget", options_.budget}, {"recipe", recipe_}, {"epochs", options_.epochs}, {"seeds", test_seeds_}};
    const Json plan = work_.plan("tune-" + options_.tune_data, question, [&](Json& made) {
      choose_size(options_.dry_run ? estimated_cost() : measured_cost());
      made.update({{"epochs", result_.epochs}, {"candidates", result_.candidates}});
      return true;
    });
    plan.at("epochs").get_to(result_.epochs);
    plan.at("candidates").get_to(result_.candidates);
    if (!options_.dry_run)
      watch_.tell(fmt::format("{} candidates, up to {} epochs, then {} runs on the test part", result_.candidates,
                              result_.epochs, test_runs()));
  }

  // As it was, as far as the records of a search tell.
  void plan_from_records() {
    for (const Record& record : work_.records()) {
      if (record.identity.verb != kVerb || record.identity.data != data_.name) continue;
      long long number = 0, planned = 0;
      const int found = std::sscanf(record.variant.c_str(), "candidate %lld of %lld", &number, &planned);
      if (found < 1) continue;  // the trial
      result_.epochs = std::max(result_.epochs, record.identity.epochs());
      result_.candidates = std::max<int64_t>({result_.candidates, number + 1, planned});
    }
    if (result_.candidates == 0) throw data_error(fmt::format("{}: no search is recorded", options_.tune_data));
  }

  int64_t full_epochs() const {
    return options_.epochs > 0 ? options_.epochs : std::stoll(setting_of_recipe("epochs"));
  }
  int64_t test_runs() const { return 2 * test_seeds_; }

  // From earlier records, or a guess.
  JobCost estimated_cost() {
    const Job job = search_job(0, full_epochs());
    if (const auto cost = recorded_cost(work_.records(), job.identity, processor_name())) return *cost;
    return runner_.guess(job, false);
  }

  // A short run of the recipe shows how long runs take.
  JobCost measured_cost() {
    const int64_t full = full_epochs();
    const JobCost guess = runner_.guess(search_job(0, full), false);
    int64_t trial = halving_rungs(1, full).front().epochs;
    while (trial > 1 && guess.per_epoch * static_cast<double>(trial) > budget_ / 4) trial /= 2;
    const Job job = search_job(0, trial);
    share({job}, [&](const Job&, size_t, size_t) {
      watch_.tell(fmt::format("trial: the recipe, {} epochs", trial));
      run_job(job, "trial", "trial");
    });
    return recorded_cost(work_.records(), job.identity, processor_name()).value_or(guess);
  }

  // As many epochs as the test can have in a third of the time, and as many candidates as then fit.
  void choose_size(const JobCost& cost) {
    const int64_t full = full_epochs();
    int64_t& epochs = result_.epochs = full;
    const auto test_seconds = [&] { return static_cast<double>(test_runs()) * cost.of(epochs); };
    for (double share = 1; options_.epochs == 0 && epochs > 1 && test_seconds() > budget_ / 3; share *= 0.9)
      epochs = shared_epochs(full, share);
    result_.candidates = plan_candidates(cost, epochs, budget_ - clock_.seconds() - test_seconds());
  }

  const WorkDirectory& work_;
  const ReproduceOptions& options_;
  const JobWatch& watch_;
  JobRunner runner_;
  Stopwatch clock_;
  FoundData data_;
  std::string recipe_;
  bool molecules_ = false;
  int64_t test_seeds_ = kTestSeeds;
  double budget_ = 0;
  TuneResult result_;
};

// A checked search in the directory of its work.
template <class Run>
auto with_search(const ReproduceOptions& options, const JobWatch& watch, const Run& run) {
  if (options.tune_data.empty()) throw usage_error("tune: which data? graphpae reproduce tune DATA --budget 2h");
  if (!options.datasets.empty() || !options.variants.empty())
    throw usage_error("tune takes one data set: --datasets and --variants are for tables");
  const WorkDirectory work(options, watch);
  try {
    return run(Search(work), work.path());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    throw Error(ErrorKind::interrupted, kKeptWhenInterrupted);
  }
}

}  // namespace

std::string rounds_text(const std::vector<TuneRound>& rounds, const std::string& metric) {
  constexpr size_t kShown = 5;
  std::string text;
  for (const auto& [epochs, candidates] : rounds) {
    std::vector<TuneCandidate> order = candidates;
    std::stable_sort(order.begin(), order.end(), [&](const TuneCandidate& a, const TuneCandidate& b) {
      if (!a.validation || !b.validation) return a.validation.has_value();
      return smaller_is_better(metric) ? *a.validation < *b.validation : *a.validation > *b.validation;
    });
    const auto without =
        std::count_if(order.begin(), order.end(), [](const TuneCandidate& c) { return !c.validation; });
    text += fmt::format("{} candidate{}, {} epoch{} each{}; validation {}:\n", order.size(),
                        order.size() == 1 ? "" : "s", epochs, epochs == 1 ? "" : "s",
                        without > 0 ? fmt::format(", {} of them failed or left out", without) : "", metric);
    for (size_t k = 0; k < order.size(); ++k) {
      const auto& [number, set, validation] = order[k];
      if (k < kShown) {
        std::string settings;
        for (const auto& [key, value] : set) settings += fmt::format(" {}={}", key, value);
        text += fmt::format("  {:>8}  candidate {:<3}{}\n", score_text(validation, metric), number,
                            settings.empty() ? " the recipe" : settings);
      } else if (number == 0) {
        text += fmt::format("  {:>8}  candidate 0   the recipe, at place {}\n", score_text(validation, metric), k + 1);
      }
    }
  }
  return text;
}

TunePlan plan_tuning(const ReproduceOptions& options, const JobWatch& watch) {
  return with_search(options, watch, [](Search search, const std::string&) { return search.planned(); });
}

TuneResult tune(const ReproduceOptions& options, const JobWatch& watch) {
  return with_search(options, watch, [&](Search search, const std::string& directory) {
    TuneResult result = search.run();
    result.recipe_file = fmt::format("{}/{}-tuned.yaml", directory, options.tune_data);
    const Summary& summary = result.summary;
    write_file(result.recipe_file, search.recipe_text());
    const std::string text = fmt::format("```\n{}```\n\n{}.\n\n{}", rounds_text(result.rounds, result.metric),
                                         result.verdict, summary_markdown(summary));
    write_file(directory + "/results.md", fmt::format("# {}\n\n{}", summary.experiment.title, text));
    write_file(directory + "/results.csv", summary_csv(summary));
    write_file(directory + "/report.html", summary_html({summary}, summary.experiment.title));
    if (!options.fill.empty())
      write_file(options.fill, fill_mark(read_file(options.fill, 1 << 24), summary.experiment.name, text));
    return result;
  });
}

}  // namespace graphpae
