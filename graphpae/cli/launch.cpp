#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>

#include "graphpae/cli/command.h"
#include "graphpae/cli/interrupt.h"
#include "graphpae/core/error.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/io/child_process.h"

namespace graphpae::cli {
namespace {

// After a process has ended badly the others have seconds to say what they saw: few if it has said why itself.
constexpr double kAfterError = 1, kAfterDeath = 30;
constexpr std::chrono::milliseconds kBetweenLooks{20};

struct LaunchFlags {
  int count = 2;
  std::vector<std::string> command;
};

pid_t start(const std::vector<std::string>& command, int rank, int count, int port) {
  ChildOptions options;
  options.environment = {{"RANK", std::to_string(rank)},
                         {"WORLD_SIZE", std::to_string(count)},
                         {"MASTER_ADDR", "127.0.0.1"},
                         {"MASTER_PORT", std::to_string(port)}};
  options.discard_output = rank > 0;
  return start_self(command, options);
}

struct Failure {
  int rank, code, signal;  // signal 0: it ended by itself
};

// Waits for all processes; returns how the first one failed.
std::optional<Failure> wait_for(std::vector<pid_t> children) {
  std::optional<Failure> failure;
  Stopwatch since_failure;
  double patience = 0;
  bool passed_on = false;
  const auto tell = [&](int signal) {
    for (const pid_t child : children) {
      if (child > 0) ::kill(child, signal);
    }
  };
  while (std::any_of(children.begin(), children.end(), [](pid_t child) { return child > 0; })) {
    for (size_t rank = 0; rank < children.size(); ++rank) {
      int status = 0;
      if (children[rank] <= 0 || ::waitpid(children[rank], &status, WNOHANG) != children[rank]) continue;
      children[rank] = 0;
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0, signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      if (failure || (code == 0 && signal == 0)) continue;
      failure = {static_cast<int>(rank), code, signal};
      const bool stopped = code == static_cast<int>(ErrorKind::interrupted);
      patience = signal != 0 || stopped ? kAfterDeath : kAfterError;
      since_failure.restart();
    }
    if (GracefulStop::requested() && !passed_on) {
      passed_on = true;
      tell(SIGTERM);
    }
    if (failure && since_failure.seconds() > patience) tell(SIGKILL);
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return failure;
}

}  // namespace

void add_launch(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("launch", "Pre-train on several processes of this machine.");
  auto flags = std::make_shared<LaunchFlags>();
  verb->add_option("-n,--processes", flags->count, "Start this many processes.")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  verb->add_option("COMMAND", flags->command, "Run this verb, after `--`: pretrain and its arguments.")
      ->required()
      ->type_name("pretrain|bench");
  verb->callback([flags, &common] {
    if (flags->command[0] != "pretrain" && flags->command[0] != "bench")
      throw usage_error(fmt::format("launch: '{}' runs in one process; several are for pretrain", flags->command[0]));
    std::vector<std::string> command = flags->command;
    const bool has_threads = std::any_of(command.begin(), command.end(),
                                         [](const std::string& word) { return word.starts_with("--threads"); });
    if (!has_threads) {
      const int each = std::max(1, common.thread_count().count / flags->count);
      command.insert(command.end(), {"--threads", std::to_string(each)});
    }
    const GracefulStop graceful;
    const int port = free_port();
    std::vector<pid_t> children;
    for (int rank = 0; rank < flags->count; ++rank) children.push_back(start(command, rank, flags->count, port));
    const auto failure = wait_for(std::move(children));
    if (!failure) return;
    if (failure->signal != 0) {
      throw Error(
          ErrorKind::internal,
          fmt::format("rank {} was ended by signal {}; --resume goes on from the last checkpoint, if there is one",
                      failure->rank, failure->signal));
    }
    throw Error(static_cast<ErrorKind>(failure->code), "");  // it has said why
  });
}

}  // namespace graphpae::cli
