#include "graphpae/io/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace graphpae {
namespace {

TEST(SignedText, ShowsTheSignOfWhatIsShown) {
  EXPECT_EQ(signed_text(1.25, 2), "+1.25");
  EXPECT_EQ(signed_text(-0.042, 3), "-0.042");
  EXPECT_EQ(signed_text(-12.6, 0), "-13");
}

TEST(SignedText, ZeroHasNoSign) {
  EXPECT_EQ(signed_text(-0.0004, 3), "0.000");
  EXPECT_EQ(signed_text(0.0004, 3), "0.000");
  EXPECT_EQ(signed_text(-0.0, 0), "0");
}

TEST(SignedText, KeepsNumbersThatAreNotFinite) {
  EXPECT_EQ(signed_text(std::numeric_limits<double>::infinity(), 2), "+inf");
  EXPECT_EQ(signed_text(-std::numeric_limits<double>::infinity(), 2), "-inf");
}

}  // namespace
}  // namespace graphpae
