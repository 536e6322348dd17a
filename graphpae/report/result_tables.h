// results.json of runs as rows of tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace graphpae {

// One number with what is known about its spread.
struct ResultScore {
  std::string protocol;                   // "strict", "paper (inflated)"; "" if there is but one
  std::string row;                        // "embeddings", "raw features", the name of a target
  std::string metric;                     // "accuracy in %", "RMSE"
  std::string mean, deviation, interval;  // as text; "" if there is none
};

// Every score of an evaluation or of fine-tuning: the subject first, then baselines, by protocol. Nothing for results
// without scores, whatever else they hold.
std::vector<ResultScore> result_scores(const nlohmann::ordered_json& results);

// Classes and counts [classes, classes] of the confusion matrix under the first protocol; no names if there is none.
struct ConfusionCounts {
  std::vector<std::string> names;
  std::vector<std::vector<double>> counts;
  std::string about;  // one line
};
ConfusionCounts confusion_counts(const nlohmann::ordered_json& results);

// What the evaluation was made of: splits, seeds, probe. "" if there is none.
std::string evaluation_summary(const nlohmann::ordered_json& results);

}  // namespace graphpae
