#include "graphpae/data/fingerprints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace graphpae {
namespace {

TEST(Fingerprints, DescriptorsDescribe) {
  TextColumn texts;
  for (const char* text : {"CCO", "c1ccccc1", "C[C@H](N)C(=O)O", "no molecule"}) texts.push_back(text);
  const Descriptors found = molecule_descriptors(texts, Threads{2});
  const auto column = [&](const std::string& name) {
    return std::find(found.names.begin(), found.names.end(), name) - found.names.begin();
  };
  ASSERT_EQ(static_cast<size_t>(found.rows.columns()), found.names.size());
  EXPECT_NEAR(found.rows.dense_row(0)[column("amw")], 46.07, 0.01);
  EXPECT_NEAR(found.rows.dense_row(1)[column("amw")], 78.11, 0.01);
  EXPECT_EQ(found.rows.dense_row(1)[column("NumAromaticRings")], 1);
  EXPECT_EQ(found.rows.dense_row(2)[column("NumAtomStereoCenters")], 1);
  for (const float value : found.rows.dense_row(3)) EXPECT_EQ(value, 0);
}

TEST(Fingerprints, MorganCountsSurroundings) {
  TextColumn texts;
  for (const char* text : {"CCCC", "CCCCCCCC", "OCC"}) texts.push_back(text);
  const Features counts = morgan_counts(texts, 0, 0, Threads{1});  // atoms by themselves: CH3, CH2, and OH
  EXPECT_EQ(counts.columns(), 3);
  const auto total = [&](int64_t row) {
    double sum = 0;
    for (const float value : counts.sparse_row(row).values) sum += value;
    return sum;
  };
  EXPECT_EQ(total(0), 4);
  EXPECT_EQ(total(1), 8);
  EXPECT_EQ(total(2), 3);
}

}  // namespace
}  // namespace graphpae
