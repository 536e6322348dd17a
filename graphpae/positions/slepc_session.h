// SlepcSession: the processes of an MPI program, its ranks, that solve for positions together.
//
// Builds with GRAPHPAE_SLEPC=ON have it; in all others (slepc_absent.cpp) the constructor throws.
#pragma once

namespace graphpae {

class SlepcSession {
 public:
  // Starts MPI and SLEPc unless the program has started them. Throws a usage error in a build without SLEPc.
  SlepcSession();
  ~SlepcSession();  // ends what it has started; waits for the other ranks
  SlepcSession(const SlepcSession&) = delete;
  SlepcSession& operator=(const SlepcSession&) = delete;

  // A usage error unless SLEPc is there and started.
  static void require();

  // Without a session there is one rank, number 0.
  static int rank();
  static int ranks();

  // Every rank must call these two.
  static void wait_for_all();
  static bool first_says(bool value);  // the value of rank 0

  // For programs: ends all ranks with an exit code, whatever they are doing.
  [[noreturn]] static void end_all(int code);

 private:
  bool started_ = false;
};

}  // namespace graphpae
