// What a run of the verb auto keeps, and what it makes of its scores.
#pragma once

#include <optional>
#include <string>

#include "graphpae/core/split.h"
#include "graphpae/evaluate/learning_task.h"
#include "graphpae/run/auto.h"

namespace graphpae::run {

// config.yaml of the run.
std::string auto_config(const AutoOptions& options);
// Throws a usage error that names the first line that differs.
void check_same_config(const std::string& run, const std::string& has, const std::string& asked);
// Throws a data error if environment.json is of other data.
void check_same_data(const std::string& environment, const std::string& hash);

// The choice of a split; nothing if there is none yet, or it cannot be read.
void write_choice(const std::string& path, const AutoSplit& split);
std::optional<AutoSplit> read_choice(const std::string& path);

// The test score of the most frequent class or the mean of the training rows.
double constant_score(const LearningTask& task, const Split& split);

// results.json: what results_json() says, and the scores once more where every run has them.
nlohmann::ordered_json results_file(const AutoResult& result);

// Fills in the verdict.
void judge(AutoResult& result);

}  // namespace graphpae::run
