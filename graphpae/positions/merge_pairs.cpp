#include "graphpae/positions/merge_pairs.h"

#include <algorithm>
#include <tuple>

namespace graphpae {

int64_t eigenspace_end(const std::vector<PairReference>& pairs, int64_t index, double tolerance) {
  const int64_t size = static_cast<int64_t>(pairs.size());
  int64_t end = index + 1;
  while (end < size && pairs[end].eigenvalue - pairs[end - 1].eigenvalue <= tolerance) ++end;
  return end;
}

void sort_pairs(std::vector<PairReference>& pairs) {
  const auto place = [](const PairReference& p) { return std::tuple(p.component, p.column); };
  std::sort(pairs.begin(), pairs.end(), [&](const PairReference& a, const PairReference& b) {
    return std::tuple(a.eigenvalue, place(a)) < std::tuple(b.eigenvalue, place(b));
  });
  // Rounding must not decide between equal eigenvalues of different components.
  for (int64_t begin = 0; begin < static_cast<int64_t>(pairs.size());) {
    const int64_t end = eigenspace_end(pairs, begin, kEqualEigenvalues);
    std::sort(pairs.begin() + begin, pairs.begin() + end,
              [&](const PairReference& a, const PairReference& b) { return place(a) < place(b); });
    begin = end;
  }
}

}  // namespace graphpae
