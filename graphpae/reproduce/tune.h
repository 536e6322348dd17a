// Tuning: a search for settings of a data set, then one look at the test part. Of random candidates many are trained
// shortly and the best ones longer (successive halving), chosen by the validation score alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/reproduce/budget.h"
#include "graphpae/reproduce/summary.h"
#include "graphpae/reproduce/work_directory.h"

namespace graphpae {

// mask_ratio, alpha, gamma, eigenvectors, dropout and lr of candidate `number`: a pure function of its arguments.
// Candidate 0 has none: it is the recipe the search starts from.
SettingList draw_candidate(uint64_t seed, int64_t number, bool molecules);

// A round: so many candidates, so many epochs.
struct Rung {
  int64_t candidates = 0, epochs = 0;
};
// Each round has a third of the candidates of the one before and three times its epochs; the last one has `epochs`.
// Rounds of equal length are one.
std::vector<Rung> halving_rungs(int64_t candidates, int64_t epochs);

// The seconds that all rounds take.
double search_seconds(const std::vector<Rung>& rungs, const JobCost& cost);

// As many candidates as fit into the time: at least 3, at most 300.
int64_t plan_candidates(const JobCost& cost, int64_t epochs, double seconds);

struct TuneCandidate {
  int64_t number = 0;                     // 0: the recipe itself
  SettingList set;                        // what differs from the recipe
  std::optional<double> validation = {};  // nothing if it failed or was left out
};
// Numbers of the `keep` best candidates, best first; those without a score are never kept.
std::vector<int64_t> best_candidates(const std::vector<TuneCandidate>& candidates, int64_t keep, bool smaller);

struct TunePlan {
  int64_t candidates = 0, epochs = 0, test_runs = 0;
  double seconds = 0;  // that all of it takes, about
};
// How large a search fits into options.budget. Runs and writes nothing.
TunePlan plan_tuning(const ReproduceOptions& options, const JobWatch& watch);

struct TuneRound {
  int64_t epochs = 0;
  std::vector<TuneCandidate> candidates;
};

struct TuneResult {
  int64_t winner = 0;  // a candidate
  int64_t candidates = 0, epochs = 0;
  std::string metric = "accuracy";
  std::string recipe_file;  // settings of the winner
  std::string verdict;      // what the test part says about it, in a line
  std::vector<TuneRound> rounds;
  Summary summary;  // winner and recipe on the test part
};
// Settings go to DATA-tuned.yaml in options.output, with results.md, results.csv and report.html beside them. Throws
// an interrupted error if it is to stop; the same call goes on from there.
TuneResult tune(const ReproduceOptions& options, const JobWatch& watch);

// The best candidates of every round, and the recipe.
std::string rounds_text(const std::vector<TuneRound>& rounds, const std::string& metric);

}  // namespace graphpae
