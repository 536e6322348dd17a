#include <gtest/gtest.h>

#include "graphpae/evaluate/statistics.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

TEST(StudentTwoSided, MatchesTablesAndTheQuantile) {
  EXPECT_NEAR(student_t_two_sided(12.7062, 1), 0.05, 1e-6);
  EXPECT_NEAR(student_t_two_sided(-2.26216, 9), 0.05, 1e-6);
  EXPECT_NEAR(student_t_two_sided(2.84534, 20), 0.01, 1e-6);
  EXPECT_DOUBLE_EQ(student_t_two_sided(0, 5), 1);
  for (const int64_t degrees : {1, 2, 7, 30, 400})
    EXPECT_NEAR(student_t_two_sided(student_t_quantile(0.995, degrees), degrees), 0.01, 1e-12) << degrees;
  EXPECT_LT(student_t_two_sided(1e6, 9), 1e-12);
  EXPECT_USAGE_ERROR(student_t_two_sided(1, 0), "0 degrees of freedom");
}

TEST(SignTest, CountsCoins) {
  EXPECT_NEAR(sign_test(10, 0), 2.0 / 1024, 1e-12);
  EXPECT_NEAR(sign_test(8, 2), 2 * (1 + 10 + 45) / 1024.0, 1e-12);
  EXPECT_NEAR(sign_test(2, 8), sign_test(8, 2), 1e-12);
  EXPECT_DOUBLE_EQ(sign_test(5, 5), 1);
  EXPECT_DOUBLE_EQ(sign_test(1, 0), 1);
  EXPECT_DOUBLE_EQ(sign_test(0, 0), 1);
}

}  // namespace
}  // namespace graphpae
