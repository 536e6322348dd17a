// Frozen rows under the strict protocol with the tuned probe: one classifier per split, chosen on its validation rows,
// its test rows looked at once. The optimum has no seed. What was predicted is kept, so that blocks can be combined
// (combination.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graphpae/core/split.h"
#include "graphpae/core/threads.h"
#include "graphpae/evaluate/protocol_scores.h"
#include "graphpae/evaluate/tuned_probe.h"

namespace graphpae {

struct TunedOptions {
  NodeMetric metric = NodeMetric::accuracy;
  Threads threads;
  std::function<void(int64_t done, int64_t total)> progress;  // splits; called by one thread at a time
};

// Log-probabilities of the classes, [val,C] and [test,C], in the order of the split.
struct SplitPredictions {
  std::vector<float> val, test;
};

struct TunedEvaluation {
  ProtocolScores scores;                      // one seed; `chosen` are candidates of the penalties
  std::vector<SplitPredictions> predictions;  // [splits]
};

// Blocks side by side, [N,D_b] each; labels [N] in 0 .. classes-1, or negative for unlabelled rows, which are never
// used. Throws what evaluate() of protocols.h does. Same bits for any number of threads.
TunedEvaluation evaluate_tuned(std::span<const ProbeBlock> blocks, std::span<const int32_t> labels, int64_t classes,
                               const std::vector<Split>& splits, const TunedOptions& options);

// Scores of one split, of log-probabilities of its parts, as the next of `scores`.
void add_predictions(ProtocolScores& scores, const SplitPredictions& predictions, const Split& split,
                     std::span<const int32_t> labels, int64_t classes, NodeMetric metric);

}  // namespace graphpae
