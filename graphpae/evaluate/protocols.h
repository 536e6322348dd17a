// How good are frozen rows for node classification? Receives rows, labels and splits, and nothing else.
//
// For each split and seed a probe learns from the training rows and offers candidates in sequence (probe.h).
//
//   strict   The first candidate with the best validation accuracy; its accuracy on the test rows of that split, looked
//            at once.
//   paper    The released procedure, to compare with the paper's tables. INFLATED, twice: the test rows of all splits
//            are pooled, so that rows the probe was trained on are tested; and the largest test accuracy among
//            candidates that tie or improve the validation accuracy is reported, so the test labels choose.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/metrics.h"
#include "graphpae/core/split.h"
#include "graphpae/core/threads.h"
#include "graphpae/evaluate/probe.h"
#include "graphpae/evaluate/protocol_scores.h"

namespace graphpae {

struct EvaluateOptions {
  ProbeOptions probe;
  bool strict = true;
  bool paper = false;  // Adam only
  int64_t seeds = 1;   // probes per split
  uint64_t seed = 0;   // of the first one
  Threads threads;
  std::function<void(int64_t done, int64_t total)> progress;  // candidates offered, of all
};

struct Evaluation {
  std::optional<ProtocolScores> strict, paper;  // as asked for
  int64_t unconverged = 0;                      // of both, see ProbeStatus
};

// Throws a data error if there is no split, or one without training, validation or test rows. evaluate() checks it of
// the labelled rows; a caller with much to do before may ask first.
void check_evaluable(const std::vector<Split>& splits);

// rows X [N,D]; labels [N] in 0 .. classes-1, or negative for unlabelled rows, which are never used. Throws a data
// error if a split has no labelled training, validation or test row, or tests a row it trains on.
Evaluation evaluate(const Features& rows, std::span<const int32_t> labels, int64_t classes,
                    const std::vector<Split>& splits, const EvaluateOptions& options);

// The most frequent class of the training rows, predicted for every test row.
Evaluation evaluate_majority(std::span<const int32_t> labels, int64_t classes, const std::vector<Split>& splits,
                             const EvaluateOptions& options);

// The rows that are in the test part of any split, ascending.
std::vector<int32_t> pooled_test(const std::vector<Split>& splits);

// Test rows per training row, the mean over splits; 0 for a single one: how much their training sets overlap, as
// intervals need it (statistics.h).
double overlap_of(const std::vector<Split>& splits);

// The share of the pooled test rows that the probe of a split was trained on, averaged over splits.
double trained_share(const std::vector<Split>& splits);

}  // namespace graphpae
