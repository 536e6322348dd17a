// JobLock: one process of a machine at a time works on a job. The system gives the lock back when the process and all
// its children that inherited it have ended, however they ended.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace graphpae {

class JobLock {
 public:
  // Nothing if another process has the lock. Throws a data error if the file cannot be made.
  static std::optional<JobLock> try_take(const std::string& path);
  JobLock(JobLock&& other) noexcept : file_(other.file_) { other.file_ = -1; }
  JobLock& operator=(JobLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~JobLock();

 private:
  explicit JobLock(int file) : file_(file) {}
  int file_;
};

}  // namespace graphpae
