// The verb auto: from a graph or molecules, with or without labels, to embeddings, predictions and a page that says
// what was chosen and why.
//
//   1. blocks that need no training (blocks/block.h), and models pre-trained on the data, seen by kernels
//   (auto_parts.h)
//   2. for each split: blocks and weights, by training and validation rows (evaluate/block_choice.h); a fit on the
//      training rows, its penalty by validation; the score of the test rows, once
//   3. with the choice of the first split, fitted on its training and validation rows: predictions for all other rows
//   4. embeddings: the chosen blocks side by side, reduced
//
// Without labels: 1., and the embeddings of the first model. What is done is kept split by split and epoch by epoch, so
// that a run that was killed goes on, and ends with the same bytes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/data/load.h"
#include "graphpae/run/context.h"

namespace graphpae::run {

struct AutoOptions {
  std::string run;  // directory
  bool resume = false, force = false;
  std::string data;                 // its name in errors and files
  double budget = 600;              // seconds: decides how long models are pre-trained
  int64_t seed = 0;                 // of everything that is drawn
  std::string metric = "auto";      // auto, accuracy or roc_auc; of classes
  std::vector<std::string> blocks;  // names; empty: all there are
  std::string split;                // as for evaluate
  int64_t num_splits = 0, split_seed = -1;
};

// A model to pre-train.
struct AutoModel {
  std::string name;  // "graphpae"
  std::string method;
  int64_t epochs = 0;
  double seconds = 0;  // expected, on two processors of 2020 or later; from the size of the data alone
};

// What will be done, before anything is.
struct AutoPlan {
  bool labelled = false;
  std::string metric, split_source;
  int64_t splits = 0;
  std::vector<std::string> blocks;  // that need no training
  std::vector<AutoModel> models;
  std::vector<std::string> notes;
};
nlohmann::ordered_json plan_json(const AutoPlan& plan);

struct ChosenBlock {
  std::string block, kernel;
  double weight = 0;  // shares that add up to one
};

struct AutoSplit {
  std::vector<ChosenBlock> chosen;
  std::vector<std::pair<int64_t, double>> parts;      // the same as kernels of auto_parts.h, and their weights
  bool bent = false;                                  // a Gaussian over the sum
  std::vector<std::pair<std::string, double>> steps;  // of the search, with scores on rows that judged
  double search = 0;                                  // the score of the choice there
  std::optional<double> validation;
  double test = 0;
  int64_t penalty = 0;
  std::vector<std::pair<std::string, double>> blocks;  // tests of each block alone, by its best kernel
  std::optional<double> without;  // test of the best choice without models, where this one has some
};

struct AutoResult {
  AutoPlan plan;
  std::vector<AutoSplit> splits;
  bool errors = false;                  // smaller is better
  double majority = 0;                  // mean test score of what knows nothing
  std::string verdict;                  // one sentence
  std::string embeddings, predictions;  // paths; "" if there are none
  double seconds = 0;
  int64_t peak_bytes = 0;
};
nlohmann::ordered_json results_json(const AutoResult& result);

// Throws what evaluate() and pretrain() throw, usage errors for names of blocks that are not there, and interrupted
// errors.
AutoPlan plan_auto(const Dataset& dataset, const AutoOptions& options, const Context& context = {});
AutoResult automatic(const Dataset& dataset, const AutoOptions& options, const Context& context = {});

}  // namespace graphpae::run
