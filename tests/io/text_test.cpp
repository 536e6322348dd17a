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

TEST(MissingText, IsWhatPeopleWriteForNothing) {
  for (const char* text : {"", "  ", "?", "nan", "NaN", "NA", "n/a", "<NA>", "None", "NULL"})
    EXPECT_TRUE(is_missing_text(text)) << text;
  for (const char* text : {"0", "-", "no", "nano", "nonexistent", "-1", "??"})
    EXPECT_FALSE(is_missing_text(text)) << text;
}

TEST(Utf8, OtherTextsAreLatin1) {
  for (const char* text : {"", "plain", "J\xc3\xb6rg", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xee\x80\x80"})
    EXPECT_EQ(to_utf8(text), text);
  EXPECT_EQ(to_utf8("J\xf6rg"), "J\xc3\xb6rg");
  EXPECT_EQ(to_utf8("\xc3"), "\xc3\x83") << "cut";
  EXPECT_EQ(to_utf8("\xc0\x80"), "\xc3\x80\xc2\x80") << "overlong";
  EXPECT_EQ(to_utf8("\xed\xa0\x80"), "\xc3\xad\xc2\xa0\xc2\x80") << "a surrogate";
  EXPECT_EQ(to_utf8("\xf5\x80\x80\x80").size(), 8u) << "beyond the last character";
}

}  // namespace
}  // namespace graphpae
