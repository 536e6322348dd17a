// A build without SLEPc: one process, and an error for those who ask for more.
#include <cstdlib>

#include "graphpae/core/error.h"
#include "graphpae/positions/component_solvers.h"
#include "graphpae/positions/slepc_session.h"

namespace graphpae {

SlepcSession::SlepcSession() { require(); }
SlepcSession::~SlepcSession() = default;

void SlepcSession::require() {
  throw usage_error("positions: this build has no SLEPc; configure with -DGRAPHPAE_SLEPC=ON");
}

int SlepcSession::rank() { return 0; }
int SlepcSession::ranks() { return 1; }
void SlepcSession::wait_for_all() {}
bool SlepcSession::first_says(bool value) { return value; }
void SlepcSession::end_all(int code) { std::exit(code); }

int64_t slepc_solver_memory(int64_t, int64_t, int64_t) { return 0; }

ComponentSolution solve_slepc(const LaplacianGraph&, const ComponentSplit&, int64_t, const BlockSolverOptions&,
                              const ConvergenceCallback&) {
  SlepcSession::require();
  return {};
}

void share_values(ComponentSolution&) {}

}  // namespace graphpae
