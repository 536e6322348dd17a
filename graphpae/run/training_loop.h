// The loop of all training: steps, a line of metrics.jsonl per epoch, checkpoints, progress, and an end when asked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graphpae/run/context.h"
#include "graphpae/run/run_directory.h"
#include "graphpae/run/team.h"

namespace graphpae::run {

struct TrainingLoop {
  RunDirectory* run = nullptr;    // null for a process that does not lead: nothing is written
  std::string data;               // hash of the data
  int64_t checkpoint_every = 50;  // epochs; also every 300 seconds, and at the end
  std::string part;               // what is trained, if it is one of several
  Team team;
  // Beside the bar, from the metrics of the epochs done.
  std::function<std::string(const std::vector<EpochMetrics>&)> note;
};

// All steps that are left. Returns the metrics of all epochs, those of earlier processes too. Throws an interrupted
// error that says where if the watch asks to stop, and what a step throws.
std::vector<EpochMetrics> train(Resumable& trainer, const TrainingLoop& loop, const Context& context);

// Restores the last checkpoint, if there is one, and tells so. `part` as above.
void go_on(Resumable& trainer, const RunDirectory& run, const std::string& data, const std::string& part,
           const Watch& watch);

// "(feature 0.1234, position 1.2e-03)": all terms but the total and those that are off; "" if there are none.
std::string terms_text(const EpochMetrics& metrics);

double sum_of_seconds(const std::vector<EpochMetrics>& metrics);
double median_of_seconds(const std::vector<EpochMetrics>& metrics);  // 0 for no epochs
double median(std::vector<double> values);

}  // namespace graphpae::run
