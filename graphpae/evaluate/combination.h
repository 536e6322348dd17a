// Several blocks together: each has its own tuned probe, and their log-probabilities are added with weights that
// validation rows choose, split by split. Starting from the best block, the one that raises the validation score most
// is added, again and again (the same one may be, which raises its weight), until nothing helps. Test labels are not
// seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/split.h"
#include "graphpae/evaluate/tuned_protocol.h"

namespace graphpae {

// weights [members], adding up to one, of log-probabilities [members] of the rows ids, [ids,C] each.
std::vector<double> choose_weights(std::span<const std::vector<float>* const> members, int64_t classes,
                                   std::span<const int32_t> labels, std::span<const int32_t> ids, NodeMetric metric);

// Their weighted sum, [ids,C].
std::vector<float> weighted_sum(std::span<const std::vector<float>* const> members, std::span<const double> weights);

struct Combination {
  ProtocolScores scores;
  std::vector<std::vector<double>> weights;   // [splits][members]
  std::vector<SplitPredictions> predictions;  // [splits]
};

// Of members that were evaluated on `splits`, labelled rows only.
Combination combine(std::span<const TunedEvaluation* const> members, std::span<const int32_t> labels, int64_t classes,
                    const std::vector<Split>& splits, NodeMetric metric);

}  // namespace graphpae
