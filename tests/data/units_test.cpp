#include "graphpae/data/units.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

TEST(Units, OfQm9) {
  const auto units = target_units("qm9", {"mu", "homo", "u0", "mine"});
  EXPECT_EQ(units[0].name, "D");
  EXPECT_EQ(units[0].to_paper, 1);
  EXPECT_EQ(units[1].name, "Hartree");
  EXPECT_EQ(units[1].paper, "10^-2 meV");
  EXPECT_DOUBLE_EQ(units[1].to_paper, 2721138.6);
  EXPECT_EQ(units[2].paper, "meV");
  EXPECT_DOUBLE_EQ(units[2].to_paper, 27211.386);
  EXPECT_EQ(units[3].name, "");
}

TEST(Units, AsPairs) {
  const auto units = target_units("z=kcal/mol,y=a=b", {"y", "z"});
  EXPECT_EQ(units[0].name, "a=b");
  EXPECT_EQ(units[1].name, "kcal/mol");
  EXPECT_EQ(units[1].paper, "");
  for (const char* nothing : {"", "none"}) EXPECT_EQ(target_units(nothing, {"mu"})[0].name, "");
  EXPECT_USAGE_ERROR(target_units("zed=eV", {"y", "zet"}), "no target 'zed' (did you mean 'zet'?)");
  for (const char* wrong : {"eV", "=eV", "y=", "y=eV,z"})
    EXPECT_USAGE_ERROR(target_units(wrong, {"y", "z"}), "is neither qm9 nor TARGET=UNIT");
}

}  // namespace
}  // namespace graphpae
