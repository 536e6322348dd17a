// Tuning: a search for settings of a data set by validation score, then one look at the test part.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/reproduce/options.h"
#include "graphpae/reproduce/search.h"
#include "graphpae/reproduce/summary.h"

namespace graphpae {

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

std::string score_text(const std::optional<double>& score, const std::string& metric);  // "none" if there is none
// The best candidates of every round, and the recipe.
std::string rounds_text(const std::vector<TuneRound>& rounds, const std::string& metric);
// What the test says about the winner, in a line.
std::string verdict_of(const Summary& summary);

}  // namespace graphpae
