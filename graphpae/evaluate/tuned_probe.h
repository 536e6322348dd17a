// The tuned probe: multinomial logistic regression on standardised columns, its penalty chosen on validation rows.
//
// Columns are scaled one by one, or together (blocks that are rotated: always), whichever does better on the validation
// rows: one by one, rare columns weigh as much as common ones, which helps with many labels and harms with few.
// Penalties fall from strong to weak by half a power of ten, each optimum the start of the next (softmax_path.h), and
// end once two powers of ten have passed without a better validation score. Ties go to the first, the stronger penalty.
// Penalties are for rows of mean squared length 1 (standard_rows.h), so that one list serves rows of any width.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graphpae/core/threads.h"
#include "graphpae/evaluate/standard_rows.h"

namespace graphpae {

enum class NodeMetric { accuracy, roc_auc };
const char* metric_name(NodeMetric metric);  // "accuracy", "rocauc"

inline constexpr int64_t kTunedPenalties = 15;                    // 1, 10^-0.5, ..., 1e-7
inline constexpr int64_t kTunedCandidates = 2 * kTunedPenalties;  // columns scaled one by one, then together
double tuned_penalty(int64_t candidate);

struct TunedProbe {
  LinearScores scores;
  int64_t candidate = 0;  // of kTunedCandidates
  double penalty = 0;
  double validation = 0;    // the score of the validation rows
  int64_t unconverged = 0;  // optimisations that did not get there
};

// Trains on the rows `train` and chooses on the rows `val`, neither empty; labels [N] in 0 .. classes-1 where they are
// used. Throws a usage error if ROC-AUC is asked for with other than two classes, a data error if it is and the
// validation rows are of one class.
TunedProbe fit_tuned_probe(std::span<const ProbeBlock> blocks, std::span<const int32_t> labels, int64_t classes,
                           std::span<const int32_t> train, std::span<const int32_t> val, NodeMetric metric,
                           Threads threads);

// Log-probabilities of the classes for the rows `ids` of the blocks: [ids,C].
std::vector<float> log_probabilities(const LinearScores& scores, std::span<const ProbeBlock> blocks,
                                     std::span<const int32_t> ids, Threads threads);

// The classes with the largest scores, [rows] of [rows,C]; the first of equal ones.
std::vector<int32_t> likeliest(std::span<const float> scores, int64_t classes);

// Of scores [ids,C] that rise with the chance of a class. Throws a data error if ROC-AUC is asked for and the rows are
// of one class.
double node_score(NodeMetric metric, std::span<const float> scores, int64_t classes, std::span<const int32_t> labels,
                  std::span<const int32_t> ids);

}  // namespace graphpae
