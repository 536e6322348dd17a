#include "graphpae/evaluate/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "graphpae/evaluate/protocol_scores.h"
#include "graphpae/evaluate/resampling.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

using Numbers = std::vector<double>;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

TEST(StudentT, MatchesTables) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062, 5e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 2), 4.30265, 5e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 9), 2.26216, 5e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 29), 2.04523, 5e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 1000), 1.96234, 5e-6);
}

// Found with thirty digits from the incomplete beta function. 1001 is the first that is not summed.
TEST(StudentT, MatchesLongArithmetic) {
  struct Case {
    double probability;
    int64_t degrees;
    double quantile;
  };
  const Case cases[] = {
      {0.6, 1, 0.324919696232906},        {0.6, 4, 0.270722294707597},        {0.6, 1001, 0.253414448483498},
      {0.9, 3, 1.63774435369621},         {0.9, 10, 1.37218364111034},        {0.975, 1, 12.7062047361747},
      {0.975, 2, 4.30265272974946},       {0.975, 3, 3.18244630528371},       {0.975, 5, 2.57058183563632},
      {0.975, 100, 1.98397151852355},     {0.975, 999, 1.96234146113345},     {0.975, 1000, 1.96233908082641},
      {0.975, 1001, 1.96233670528088},    {0.975, 5000, 1.96043855170651},    {0.975, 1000000, 1.95996635681411},
      {0.9995, 9, 4.78091258593114},      {0.9995, 1000, 3.30028264842391},   {0.9995, 1001, 3.30027287606601},
      {0.999999, 1, 318309.886182743},    {0.999999, 29, 5.91710554045956},   {0.999999, 150, 4.946939810266534},
      {0.999999, 1000, 4.78160862045835}, {0.999999, 1001, 4.78158031903864}, {0.999999, 1000000, 4.75345234827968},
  };
  for (const Case& c : cases) {
    const double tolerance = c.probability <= 0.9995 ? 1e-12 : 1e-9;
    EXPECT_NEAR(student_t_quantile(c.probability, c.degrees) / c.quantile, 1, tolerance)
        << c.probability << ", " << c.degrees;
  }
  // So many degrees are the normal distribution.
  EXPECT_NEAR(student_t_quantile(0.975, int64_t{1} << 60), 1.959963984540054, 1e-14);
}

TEST(StudentT, IsOddAboutOneHalf) {
  for (const int64_t degrees : {1, 2, 7, 1000, 1001, 123456}) {
    EXPECT_EQ(student_t_quantile(0.5, degrees), 0);
    for (const double p : {0.25, 0.0625}) {
      EXPECT_LT(student_t_quantile(p, degrees), 0);
      EXPECT_EQ(student_t_quantile(p, degrees), -student_t_quantile(1 - p, degrees)) << degrees;
    }
  }
}

TEST(StudentT, RefusesMisuse) {
  EXPECT_USAGE_ERROR(student_t_quantile(0, 3), "probability 0 is not between 0 and 1");
  EXPECT_USAGE_ERROR(student_t_quantile(1, 3), "probability 1 is not between 0 and 1");
  EXPECT_USAGE_ERROR(student_t_quantile(kNotANumber, 3), "probability nan");
  EXPECT_USAGE_ERROR(student_t_quantile(0.5, 0), "0 degrees of freedom");
}

// Deviations from 5: -3, -1, -1, -1, 0, 0, 2, 4, with squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32.
TEST(Statistics, ByHand) {
  const Statistics s = statistics(Numbers{2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.count, 8);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(32.0 / 7));
  // t of 7 degrees is 2.364624; 2.364624 * sqrt(32 / 7 / 8) = 1.787488
  EXPECT_NEAR(s.low, 5 - 1.787488, 1e-5);
  EXPECT_NEAR(s.high, 5 + 1.787488, 1e-5);
}

// Mean 2, squares 1 + 1, deviation sqrt(2); t of 1 degree is 12.7062, times sqrt(2) / sqrt(2).
TEST(Statistics, OfTwoValues) {
  const Statistics s = statistics(Numbers{1, 3});
  EXPECT_DOUBLE_EQ(s.mean, 2);
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(2.0));
  EXPECT_NEAR(s.low, 2 - 12.7062, 1e-4);
  EXPECT_NEAR(s.high, 2 + 12.7062, 1e-4);
}

TEST(Statistics, OfOneValueHasNoInterval) {
  const Statistics s = statistics(Numbers{0.7});
  EXPECT_EQ(s.count, 1);
  EXPECT_EQ(s.mean, 0.7);
  EXPECT_EQ(s.deviation, 0);
  EXPECT_TRUE(std::isnan(s.low));
  EXPECT_TRUE(std::isnan(s.high));
}

// Three times 0.1 added up and divided by 3 is not 0.1 in binary.
TEST(Statistics, OfEqualValuesIsExact) {
  const Statistics s = statistics(Numbers{0.1, 0.1, 0.1});
  EXPECT_EQ(s.mean, 0.1);
  EXPECT_EQ(s.deviation, 0);
  EXPECT_EQ(s.low, 0.1);
  EXPECT_EQ(s.high, 0.1);
}

// A sum of squares less a square of sums would lose every digit here.
TEST(Statistics, KeepsASmallDeviationOfLargeValues) {
  const Statistics s = statistics(Numbers{1e9 + 1, 1e9 + 2, 1e9 + 3});
  EXPECT_DOUBLE_EQ(s.mean, 1e9 + 2);
  EXPECT_DOUBLE_EQ(s.deviation, 1);
}

TEST(Statistics, PassesOnWhatIsNotFinite) {
  EXPECT_TRUE(std::isnan(statistics(Numbers{1, kNotANumber, 2}).mean));
  EXPECT_TRUE(std::isnan(statistics(Numbers{1, kNotANumber, 2}).high));
}

TEST(Statistics, RefusesNoValues) { EXPECT_DATA_ERROR(statistics({}), "no values"); }

// By hand: deviation 1, t of two degrees 4.30265; with overlap 0.5 the variance of the mean is 1/3 + 1/2.
TEST(Statistics, OverlappingTrainingSetsWidenTheInterval) {
  const Numbers values = {4, 5, 6};
  EXPECT_NEAR(overlapping_statistics(values, 0.5).high, 5 + 4.30265 * std::sqrt(1 / 3.0 + 0.5), 1e-4);
  EXPECT_EQ(overlapping_statistics(values, 0).high, statistics(values).high);
  EXPECT_EQ(overlapping_statistics(values, 0.5).deviation, statistics(values).deviation);
}

TEST(Statistics, IntervalsAreOverSplitsFirst) {
  ProtocolScores scores;
  scores.splits = 3;
  scores.seeds = 2;
  scores.test = {3, 5, 4, 6, 5, 7};  // means of splits 4, 5, 6
  EXPECT_NEAR(scores.summary().high, 5 + 4.30265 * std::sqrt(1 / 3.0), 1e-4);
  EXPECT_EQ(scores.summary().count, 6);
  scores.overlap = 0.5;
  EXPECT_NEAR(scores.summary().high, 5 + 4.30265 * std::sqrt(1 / 3.0 + 0.5), 1e-4);
  ProtocolScores one;
  one.splits = one.seeds = 1;
  one.test = {0.7};
  EXPECT_TRUE(std::isnan(one.summary().low));
  one.resampled = {0.6, 0.8};
  EXPECT_EQ(one.summary().low, 0.6);
}

// Of 100 rows 70 are right: the share of right ones has a deviation of sqrt(0.7 0.3 / 100).
TEST(Resampling, MatchesTheBinomial) {
  const auto score = [](std::span<const int32_t> drawn) -> std::optional<double> {
    double right = 0;
    for (const int32_t row : drawn) right += row < 70 ? 1 : 0;
    return right / static_cast<double>(drawn.size());
  };
  const auto interval = resampled_interval(100, score);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->first, 0.7 - 1.96 * 0.0458, 0.015);
  EXPECT_NEAR(interval->second, 0.7 + 1.96 * 0.0458, 0.015);
  EXPECT_FALSE(resampled_interval(5, [](std::span<const int32_t>) { return std::optional<double>(); }));
}

}  // namespace
}  // namespace graphpae
