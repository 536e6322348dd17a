// What tests of kernels share: every instruction set of the machine, random numbers, comparisons.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "graphpae/core/threads.h"

namespace graphpae::test {

// Runs body(thread counts), or body(), for each instruction set that this machine has. How work is divided does not
// depend on the instructions, so only the best ones are run with several numbers of threads.
template <class Body>
void for_each_target(const Body& body, std::vector<int> counts = {1, 2, 8}) {
  hwy::SetSupportedTargetsForTest(0);
  const int64_t all = hwy::SupportedTargets();
  const auto choose = [](int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  for (int64_t rest = all; rest != 0; rest &= rest - 1) {
    choose(rest & -rest);
    SCOPED_TRACE(hwy::TargetName(rest & -rest));
    if constexpr (std::is_invocable_v<const Body&>) {
      body();
    } else {
      body(counts);
    }
    counts = {1};
  }
  choose(0);
}

inline std::vector<float> random_floats(int64_t count, unsigned seed, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(engine);
  return values;
}

inline void expect_close(const std::vector<float>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

inline constexpr int64_t kSizes[] = {0, 1, 7, 40, 257};

// Checks run(threads), which returns all its outputs in one vector, against `expected`, for all targets and threads.
template <class Run>
void check(const std::vector<double>& expected, double tolerance, const Run& run) {
  for_each_target([&](const std::vector<int>& counts) {
    const std::vector<float> first = run(Threads{1});
    expect_close(first, expected, tolerance);
    for (const int threads : counts) EXPECT_TRUE(same_bits(first, run(Threads{threads})));
  });
}

template <class Body>
void for_sizes(const Body& body) {
  for (const int64_t n : kSizes) {
    for (const int64_t d : kSizes) {
      SCOPED_TRACE(testing::Message() << n << " x " << d);
      body(n, d);
    }
  }
}

}  // namespace graphpae::test
