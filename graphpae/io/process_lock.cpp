#include "graphpae/io/process_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "graphpae/core/error.h"
#include "graphpae/core/machine.h"

namespace graphpae {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// The file may have been removed by the one who held it, and another made in its place.
bool is_at(int file, const std::string& path) {
  struct stat own {
  }, there{};
  return ::fstat(file, &own) == 0 && ::stat(path.c_str(), &there) == 0 && own.st_ino == there.st_ino &&
         own.st_dev == there.st_dev;
}

bool knows_no_locks(int reason) { return reason == ENOLCK || reason == EOPNOTSUPP || reason == ENOSYS; }

// What the holder wrote: "pid 123", "host box", "command graphpae ...", a line each.
std::string holder(int file) {
  std::array<char, 4096> bytes{};
  const ssize_t length = ::pread(file, bytes.data(), bytes.size(), 0);
  std::istringstream lines(std::string(bytes.data(), length > 0 ? static_cast<size_t>(length) : 0));
  std::string pid, host, command;
  for (std::string line; std::getline(lines, line);) {
    for (auto& [key, value] :
         {std::pair<const char*, std::string*>{"pid ", &pid}, {"host ", &host}, {"command ", &command}}) {
      if (line.starts_with(key)) *value = line.substr(std::strlen(key));
    }
  }
  if (pid.empty()) return "another process is writing into it";
  return fmt::format("process {} on {} is writing into it{}", pid, host.empty() ? "this machine" : host,
                     command.empty() ? "" : " (" + command + ")");
}

}  // namespace

ProcessLock::ProcessLock(const std::string& path, const std::string& subject, const std::string& command)
    : path_(path) {
  for (;;) {
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) throw data_error(fmt::format("{}: {}", path, std::strerror(errno)));
    const int reason = ::flock(file_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (reason == EINTR || (reason == 0 && !is_at(file_, path))) {
      ::close(file_);
      continue;
    }
    if (reason == 0 || knows_no_locks(reason)) break;
    const std::string message = reason == EWOULDBLOCK ? holder(file_) : std::string(std::strerror(reason));
    ::close(file_);
    if (reason == EWOULDBLOCK) throw usage_error(fmt::format("{}: {}", subject, message));
    throw data_error(fmt::format("{}: cannot be locked: {}", path, message));
  }
  std::string line = command;
  std::replace(line.begin(), line.end(), '\n', ' ');
  const std::string text =
      fmt::format("pid {}\nhost {}\ncommand {}\nsince {}\n", ::getpid(), host_name(), line, time_stamp());
  // For readers only: a disk without room for it does not matter here.
  [[maybe_unused]] const bool written = ::ftruncate(file_, 0) == 0 && ::pwrite(file_, text.data(), text.size(), 0) > 0;
}

void ProcessLock::release() {
  if (file_ < 0) return;
  if (is_at(file_, path_)) ::unlink(path_.c_str());
  ::close(file_);
  file_ = -1;
}

}  // namespace graphpae
