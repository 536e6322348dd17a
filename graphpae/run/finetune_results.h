// What fine-tuning found out: of one model, or of one per split of a graph or per target of molecules.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/metrics.h"

namespace graphpae::run {

// One target of molecules on the test part; nothing where it could not be scored.
struct TargetResult {
  std::string name;
  bool classes = false;  // scored by ROC-AUC, and nothing else
  std::optional<double> rocauc;
  std::string unit, paper_unit;  // of the data, and of the paper's table; may be empty
  std::optional<double> mae, rmse, mae_over_std, mae_paper;
  double training_std = 1;  // of the training labels
};

// One model.
struct PartResult {
  std::string name;       // of the target or split; "" for the only one
  std::string directory;  // in the run's: "targets/mu", "splits/0"; "" for the only one
  std::string run;        // its whole path
  int64_t epochs = 0;
  std::optional<double> final_loss;
  double seconds = 0, seconds_per_epoch = 0;
  int64_t peak_bytes = 0;
  Protocol protocol = Protocol::strict;
  int64_t best_epoch = 0, reported_epoch = 0;
  bool stopped_early = false;
  std::string metric;
  std::optional<double> validation, test_mean;
  std::vector<std::pair<std::string, std::optional<double>>> test;  // by target, or "accuracy"
  std::vector<TargetResult> targets;                                // of molecules
  std::string pretrained;                                           // what it started from, or "none"
};

struct FinetuneResult {
  std::string run;
  std::vector<PartResult> parts;  // at least one

  bool has_parts() const { return !parts.front().directory.empty(); }
  bool of_splits() const { return parts.front().directory.starts_with("splits/"); }
  int64_t epochs() const;            // of the longest
  double seconds() const;            // of all
  double seconds_per_epoch() const;  // median
  std::vector<TargetResult> targets() const;
  std::vector<double> test_scores() const;  // test_mean of those that have one
};

// results.json of a part, and of all of them: a single part is what it is.
nlohmann::ordered_json results_json(const PartResult& result);
nlohmann::ordered_json results_json(const FinetuneResult& result);

}  // namespace graphpae::run
