// Which blocks, with which weights: a forward search on training and validation rows. Test rows are never seen.
//
// Every kernel (kernel_rows.h) is judged alone by a ridge (kernel_ridge.h); starting from the best one, of the best
// kernels of all blocks the one is added, with the weight, that raises the score most, as long as it does so by more
// than a quarter of the standard error; at last a Gaussian over the whole sum is tried. To be quick and as good as the
// rows allow, it works on at most `fitted_rows` training rows and `judged_rows` validation rows. Where there are few
// validation rows, folds of the training rows judge beside them, each with the same weight.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graphpae/core/split.h"
#include "graphpae/core/threads.h"
#include "graphpae/evaluate/kernel_sum.h"
#include "graphpae/evaluate/learning_task.h"

namespace graphpae {

struct ChoiceOptions {
  int64_t fitted_rows = 1024, judged_rows = 2048;
  int64_t enough_validation = 450;  // rows that judge alone
  int64_t folds = 4;                // of the training rows, where they are not enough
  int64_t most_parts = 5;           // of a sum
  uint64_t seed = 0;                // of the rows that are drawn
  Threads threads;
};

inline constexpr double kStrongestPenalty = 31.622776601683793;  // 10^1.5; each next one is sqrt(10) times weaker
inline constexpr int64_t kRidgePenalties = 10;
double ridge_penalty(int64_t candidate);

struct BlockChoice {
  KernelSum sum;
  int64_t penalty = 0;  // candidate
  double score = 0;     // the larger the better, on rows that judged
  struct Single {
    double score = 0;
    int64_t penalty = 0;
  };
  std::vector<Single> singles;  // [kernels] alone
  struct Step {
    std::string what;  // "adjacency (gaussian) x 1"
    double score = 0;
  };
  std::vector<Step> steps;  // how the sum grew
  int64_t judged = 0;       // rows
};

// Training and validation rows without a known target are left out. Throws a data error if there are no kernels, or no
// rows of either part.
BlockChoice choose_blocks(const KernelList& kernels, const LearningTask& task, const Split& split,
                          const ChoiceOptions& options);

// At most `most` of the ids, drawn at random without repeats, in the order they had.
std::vector<int32_t> draw_rows(std::span<const int32_t> ids, int64_t most, uint64_t seed);

// The ids that have a target.
std::vector<int32_t> known_rows(const LearningTask& task, std::span<const int32_t> ids);

}  // namespace graphpae
