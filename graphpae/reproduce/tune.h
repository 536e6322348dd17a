// Tuning: a search for settings of a data set by validation score, then one look at the test part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/reproduce/options.h"
#include "graphpae/reproduce/summary.h"

namespace graphpae {

struct TunePlan {
  int64_t candidates = 0, epochs = 0, test_runs = 0;
  double seconds = 0;  // that all of it takes, about
};
// How large a search fits into options.budget. Runs and writes nothing.
TunePlan plan_tuning(const ReproduceOptions& options, const JobWatch& watch);

struct TuneCandidate {
  int64_t number = 0;                // 0: the recipe itself
  SettingList set;                   // what differs from the recipe
  std::optional<double> validation;  // nothing if it failed or was left out
};
struct TuneRound {
  int64_t epochs = 0;
  std::vector<TuneCandidate> candidates;
};

struct TuneResult {
  int64_t winner = 0;  // a candidate
  int64_t candidates = 0, epochs = 0;
  std::string metric;
  std::string recipe_file;  // settings of the winner
  std::string verdict;      // what the test part says about it, in a line
  std::vector<TuneRound> rounds;
  Summary summary;  // winner and recipe on the test part
};
// Settings go to DATA-tuned.yaml in options.output, with results.md, results.csv and report.html beside them. Throws
// an interrupted error if it is to stop; the same call goes on from there.
TuneResult tune(const ReproduceOptions& options, const JobWatch& watch);

}  // namespace graphpae
