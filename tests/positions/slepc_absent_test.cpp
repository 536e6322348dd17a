#include <gtest/gtest.h>

#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/positions/slepc_session.h"
#include "tests/positions/test_graphs.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

TEST(SlepcAbsent, TheLibrarySaysSo) {
  PositionOptions options;
  options.solver = PositionSolver::slepc;
  EXPECT_USAGE_ERROR(laplacian_positions(testing::path(5).adjacency(), options), "this build has no SLEPc");
  EXPECT_USAGE_ERROR(SlepcSession(), "configure with -DGRAPHPAE_SLEPC=ON");
}

}  // namespace
}  // namespace graphpae
