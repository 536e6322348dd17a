// What the probes of graph properties have in common: a grid of penalties, folds within the training rows, and how the
// best penalty is chosen.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace graphpae {

inline constexpr int64_t kFolds = 5;
inline constexpr std::array<double, 7> kPenaltyGrid = {1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3};

// A probe that was fitted on all its training rows with the penalty that cross validation chose.
struct FittedProbe {
  double penalty = 0;               // of kPenaltyGrid
  std::vector<double> scores;       // [grid] mean over the folds: the larger the better
  std::vector<double> predictions;  // [asked]
  int64_t folds_used = kFolds;      // in the mean
  int64_t unconverged = 0;          // fits that did not reach their optimum
};

// The first of the largest scores.
int64_t best_penalty(std::span<const double> scores);

// The number of the fold, 0 .. folds-1, in which each row is held out; nothing is shuffled.

// Runs of consecutive rows whose sizes differ by one at most, the larger ones first. Throws a data error if there are
// fewer rows than folds.
std::vector<int32_t> contiguous_folds(int64_t rows, int64_t folds = kFolds);

// Folds that keep the shares of two classes; labels [rows] are 0 and 1. With the rows in order of their class, the
// class of row 0 first, every folds-th place counts for the same fold: that says how many rows of a class a fold gets.
// Each class is then handed out in the order of its rows, first to fold 0, then to fold 1, ... A class with fewer rows
// than folds is missing in some.
std::vector<int32_t> stratified_folds(std::span<const uint8_t> labels, int64_t folds = kFolds);

}  // namespace graphpae
