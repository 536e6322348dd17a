// ProcessLock: what one process at a time may do, and a dead one never hinders.
#pragma once

#include <string>

namespace graphpae {

// An advisory lock on a file that is kept open. The file says who holds it: process, host, command and since when. It
// is removed with the lock; one that a killed process left behind is taken over. Children do not inherit it. Where a
// file system knows no locks, all get it.
class ProcessLock {
 public:
  // Throws a usage error if another has it, "SUBJECT: process 123 on HOST is writing into it (COMMAND)", and a data
  // error if the file cannot be made.
  ProcessLock(const std::string& path, const std::string& subject, const std::string& command);
  ~ProcessLock() { release(); }
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;

  void release();  // early

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace graphpae
