// A build without SLEPc says so, before it reads anything.
#include "tests/cli/program.h"

namespace graphpae {
namespace {

using namespace graphpae::test;

TEST(SlepcAbsent, AskingForItIsAUsageError) {
  const TempDir dir;
  expect_failure(dir, "positions none.csv -o p.npz --solver slepc", 2,
                 "this build has no SLEPc; configure with -DGRAPHPAE_SLEPC=ON");
}

}  // namespace
}  // namespace graphpae
