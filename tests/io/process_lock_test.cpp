#include "graphpae/io/process_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

TEST(ProcessLock, NamesTheOneThatHasItAndGoesWithIt) {
  const test::TempDir dir;
  const std::string path = dir / "run.lock";
  {
    const ProcessLock lock(path, "a run", "graphpae pretrain 'my data'");
    const std::string text = test::slurp(path);
    EXPECT_TRUE(text.starts_with("pid " + std::to_string(::getpid()) + "\nhost ")) << text;
    EXPECT_NE(text.find("\ncommand graphpae pretrain 'my data'\n"), std::string::npos) << text;
    EXPECT_USAGE_ERROR(ProcessLock(path, "a run", "other"), "a run: process " + std::to_string(::getpid()) + " on ");
    EXPECT_USAGE_ERROR(ProcessLock(path, "a run", "other"), "is writing into it (graphpae pretrain 'my data')");
    EXPECT_EQ(test::slurp(path), text);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  ProcessLock again(path, "a run", "");
  again.release();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_DATA_ERROR(ProcessLock(dir / "none/run.lock", "a run", ""), "none/run.lock: ");
}

TEST(ProcessLock, AKilledProcessHindersNobody) {
  const test::TempDir dir;
  const std::string path = dir / "run.lock";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::optional<ProcessLock> lock;
    lock.emplace(path, "a run", "child");
    [[maybe_unused]] const ssize_t written = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_USAGE_ERROR(ProcessLock(path, "a run", ""), "process " + std::to_string(child) + " on ");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(path));  // left behind
  const ProcessLock lock(path, "a run", "next");
  EXPECT_NE(test::slurp(path).find("command next\n"), std::string::npos) << test::slurp(path);
}

}  // namespace
}  // namespace graphpae
