#include "graphpae/reproduce/job_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "graphpae/core/error.h"

namespace graphpae {

std::optional<JobLock> JobLock::try_take(const std::string& path) {
  // Inherited by children on purpose: one that outlives us still writes into the directory of its run.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
  if (file < 0) throw data_error(fmt::format("{}: {}", path, std::strerror(errno)));
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return JobLock(file);
  const int reason = errno;
  ::close(file);
  if (reason == EWOULDBLOCK) return std::nullopt;
  throw data_error(fmt::format("{}: cannot be locked: {}", path, std::strerror(reason)));
}

JobLock::~JobLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace graphpae
