#include "graphpae/io/child_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

constexpr int kBetweenTicks = 200;  // milliseconds

// A pipe whose ends are closed in programs that we start.
struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::internal, "no more pipes can be made");
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_end(read);
    close_end(write);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

// The program with all verbs: this one, or the one that started it (cli/main.cpp).
std::string program_path() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored), here = self.parent_path();
  if (self.filename().string().starts_with("graphpae-")) {
    for (const fs::path& path : {here / "graphpae", here.parent_path().parent_path() / "bin" / "graphpae"}) {
      if (fs::exists(path, ignored)) return path.string();
    }
  }
  return "/proc/self/exe";
}

// `out` and `error` become its stdout and stderr; -1: ours.
pid_t start(const std::vector<std::string>& words, const ChildOptions& options, int out, int error) {
  const std::string program = program_path();
  std::vector<char*> arguments = {const_cast<char*>("graphpae")};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) throw Error(ErrorKind::internal, "no more processes can be started");
  if (child > 0) return child;
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  if (options.discard_output) ::dup2(nothing, STDOUT_FILENO);
  if (out >= 0) ::dup2(out, STDOUT_FILENO);
  if (error >= 0) ::dup2(error, STDERR_FILENO);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(1);
  ::execv(program.c_str(), arguments.data());
  ::_exit(1);
}

std::string last_line(std::string text) {
  const size_t end = text.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  text.resize(end + 1);
  text = text.substr(text.find_last_of("\r\n") + 1);
  const std::string prefix = "graphpae: error: ";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

}  // namespace

pid_t start_self(const std::vector<std::string>& words, const ChildOptions& options) {
  return start(words, options, -1, -1);
}

ChildOutcome run_self(const std::vector<std::string>& words, const ChildOptions& options) {
  Pipe out, error;
  const pid_t child = start(words, options, out.write, error.write);
  Pipe::close_end(out.write);
  Pipe::close_end(error.write);
  ChildOutcome outcome;
  std::string messages;
  bool asked = false;
  std::array<pollfd, 2> ends = {pollfd{out.read, POLLIN, 0}, pollfd{error.read, POLLIN, 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    ::poll(ends.data(), ends.size(), kBetweenTicks);
    for (size_t e = 0; e < ends.size(); ++e) {
      if (ends[e].fd < 0 || ends[e].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t got = ::read(ends[e].fd, buffer.data(), buffer.size());
      if (got > 0)
        (e == 0 ? outcome.out : messages).append(buffer.data(), static_cast<size_t>(got));
      else
        ends[e].fd = -1;
    }
    if (messages.size() > 65536) messages.erase(0, messages.size() - 4096);
    if (!asked && options.stop && options.stop()) {
      asked = true;
      ::kill(child, SIGTERM);
    }
    if (options.tick) options.tick();
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.error = last_line(messages);
  return outcome;
}

int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool found = listener >= 0 && ::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (listener >= 0) ::close(listener);
  if (!found) throw Error(ErrorKind::internal, "no free port on this machine");
  return ntohs(address.sin_port);
}

}  // namespace graphpae
