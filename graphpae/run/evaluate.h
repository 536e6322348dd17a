// The verb evaluate: the frozen embeddings of runs, probed beside baselines.
#pragma once

#include "graphpae/data/load.h"
#include "graphpae/run/evaluation.h"

namespace graphpae::run {

struct EvaluatedRuns {
  std::string run, against;                    // run or model directories; `against` may be ""
  std::vector<std::shared_ptr<Model>> models;  // of `run`, then of runs that differ from it in their seeds only
  std::shared_ptr<Model> rival;                // of `against`, or null
};

// Throws a usage error if runs `also` named have the same seed, or differ in more than that.
EvaluatedRuns load_runs(const std::string& run, const std::vector<std::string>& also, const std::string& against);

// `settings` are those of the models, with what is asked of the probe; `name` of the data starts errors. A run gets a
// map of its embeddings.
EvaluationTable evaluate(const EvaluatedRuns& runs, const Dataset& dataset, const std::string& name,
                         const Settings& settings, const EvaluateOptions& options, const Context& context);

// Adds an evaluation to the results and the page of the run, if `run` is one.
void keep_evaluation(const std::string& run, const nlohmann::ordered_json& evaluation, const Watch& watch);

}  // namespace graphpae::run
