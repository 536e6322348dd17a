// Merging the eigenpairs of components into those of the whole graph.
#pragma once

#include <cstdint>
#include <vector>

namespace graphpae {

// One eigenpair: which component, which of its columns.
struct PairReference {
  double eigenvalue;
  int64_t component;
  int64_t column;
};

// Eigenvalues closer than this count as equal when pairs are put in order.
inline constexpr double kEqualEigenvalues = 1e-12;

// By eigenvalue; equal ones by component, then by column.
void sort_pairs(std::vector<PairReference>& pairs);

// The end of the group of pairs that belong to the same eigenvalue as pairs[index]: neighbours differ by no more than
// `tolerance`. `pairs` must be sorted.
int64_t eigenspace_end(const std::vector<PairReference>& pairs, int64_t index, double tolerance);

}  // namespace graphpae
