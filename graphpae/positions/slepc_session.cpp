#include "graphpae/positions/slepc_session.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "graphpae/core/error.h"
#include "graphpae/positions/slepc_handles.h"

namespace graphpae {
namespace {

// PETSc calls its handler where an error arises and again on the way up; the first message says most.
std::string& first_message() {
  static std::string message;
  return message;
}

PetscErrorCode remember(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                        const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL && message != nullptr) first_message() = message;
  return code;
}

bool is_started() {
  PetscBool slepc = PETSC_FALSE;
  return SlepcInitialized(&slepc) == 0 && slepc == PETSC_TRUE;
}

}  // namespace

void slepc_call(PetscErrorCode code) {
  if (code == 0) return;
  if (code == PETSC_ERR_MEM) throw memory_error("positions: not enough memory for SLEPc");
  const std::string& message = first_message();
  throw numerical_error(fmt::format("positions: SLEPc: {}", message.substr(0, message.find('\n'))));
}

SlepcSession::SlepcSession() {
  if (is_started()) return;
  // Signals and files of settings are the program's business; $PETSC_OPTIONS still works.
  slepc_call(PetscOptionsSetValue(nullptr, "-no_signal_handler", nullptr));
  slepc_call(PetscOptionsSetValue(nullptr, "-skip_petscrc", nullptr));
  slepc_call(SlepcInitialize(nullptr, nullptr, nullptr, nullptr));
  started_ = true;
  slepc_call(PetscPushErrorHandler(remember, nullptr));
}

SlepcSession::~SlepcSession() {
  if (!started_) return;
  PetscPopErrorHandler();
  SlepcFinalize();
}

void SlepcSession::require() {
  if (!is_started()) throw usage_error("positions: the solver slepc needs a SlepcSession");
}

int SlepcSession::rank() {
  int rank = 0;
  if (is_started()) MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}

int SlepcSession::ranks() {
  int ranks = 1;
  if (is_started()) MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  return ranks;
}

void SlepcSession::wait_for_all() {
  if (is_started()) MPI_Barrier(PETSC_COMM_WORLD);
}

bool SlepcSession::first_says(bool value) {
  int word = value;
  if (is_started()) MPI_Bcast(&word, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  return word != 0;
}

void SlepcSession::end_all(int code) {
  std::fflush(nullptr);
  if (is_started()) MPI_Abort(PETSC_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace graphpae
