#include "graphpae/evaluate/cross_validation.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"

namespace graphpae {

int64_t best_penalty(std::span<const double> scores) {
  return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

std::vector<int32_t> contiguous_folds(int64_t rows, int64_t folds) {
  if (rows < folds) throw data_error(fmt::format("{} rows for {} folds of cross validation", rows, folds));
  std::vector<int32_t> fold_of;
  for (int64_t fold = 0; fold < folds; ++fold) {
    const int64_t size = rows / folds + (fold < rows % folds ? 1 : 0);
    fold_of.insert(fold_of.end(), static_cast<size_t>(size), static_cast<int32_t>(fold));
  }
  return fold_of;
}

std::vector<int32_t> stratified_folds(std::span<const uint8_t> labels, int64_t folds) {
  std::vector<int32_t> fold_of(labels.size());
  int64_t place = 0;  // in the order of classes
  for (const bool first_class : {true, false}) {
    std::vector<size_t> members;
    for (size_t i = 0; i < labels.size(); ++i) {
      if ((labels[i] == labels[0]) == first_class) members.push_back(i);
    }
    std::vector<int64_t> sizes(static_cast<size_t>(folds), 0);
    for (size_t i = 0; i < members.size(); ++i) ++sizes[place++ % folds];
    auto next = members.begin();
    for (int64_t fold = 0; fold < folds; ++fold) {
      for (int64_t i = 0; i < sizes[fold]; ++i) fold_of[*next++] = static_cast<int32_t>(fold);
    }
  }
  return fold_of;
}

}  // namespace graphpae
