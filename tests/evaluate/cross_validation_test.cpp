#include "graphpae/evaluate/cross_validation.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

using Folds = std::vector<int32_t>;
using Labels = std::vector<uint8_t>;

TEST(ContiguousFolds, LargerOnesFirst) {
  EXPECT_EQ(contiguous_folds(5), (Folds{0, 1, 2, 3, 4}));
  EXPECT_EQ(contiguous_folds(8), (Folds{0, 0, 1, 1, 2, 2, 3, 4}));
  EXPECT_EQ(contiguous_folds(6, 2), (Folds{0, 0, 0, 1, 1, 1}));
  EXPECT_DATA_ERROR(contiguous_folds(4), "4 rows for 5 folds");
}

TEST(StratifiedFolds, KeepTheSharesOfTheClasses) {
  Labels labels(45, 0);
  labels.insert(labels.end(), 5, 1);
  const Folds folds = stratified_folds(labels, 3);
  std::array<std::array<int, 2>, 3> counts{};
  for (size_t i = 0; i < folds.size(); ++i) ++counts[folds[i]][labels[i]];
  EXPECT_EQ(counts[0], (std::array{15, 2}));
  EXPECT_EQ(counts[1], (std::array{15, 2}));
  EXPECT_EQ(counts[2], (std::array{15, 1}));
  for (int i = 0; i < 45; ++i) EXPECT_EQ(folds[i], i / 15) << i;  // in the order of the rows
  EXPECT_EQ((Folds{folds.begin() + 45, folds.end()}), (Folds{0, 0, 1, 1, 2}));
}

// The class of the first row comes first, whichever it is.
TEST(StratifiedFolds, ClassesInOrderOfAppearance) {
  EXPECT_EQ(stratified_folds(Labels{1, 0, 0, 0}, 2), (Folds{0, 0, 1, 1}));
  EXPECT_EQ(stratified_folds(Labels{0, 1, 1, 1}, 2), (Folds{0, 0, 1, 1}));
  EXPECT_EQ(stratified_folds(Labels{0, 1, 0, 0, 1, 0, 1}, 5), (Folds{0, 0, 1, 2, 1, 3, 4}));
}

TEST(BestPenalty, FirstOfEquals) {
  EXPECT_EQ(best_penalty(std::vector<double>{0.5, 0.7, 0.6, 0.7}), 1);
  EXPECT_EQ(best_penalty(std::vector<double>{-3, -3, -3}), 0);
}

}  // namespace
}  // namespace graphpae
