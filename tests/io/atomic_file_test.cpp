#include "graphpae/io/atomic_file.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using test::slurp;
using test::TempDir;

size_t entries(const std::string& directory) { return std::distance(fs::directory_iterator(directory), {}); }

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TempDir dir;
  {
    AtomicFile file(dir / "a");
    std::ofstream(file.staging_path()) << "half";
    EXPECT_FALSE(fs::exists(dir / "a"));
  }
  EXPECT_EQ(entries(dir.path()), 0u);
  write_file(dir / "a", "old");
  write_file(dir / "a", "new");
  EXPECT_EQ(slurp(dir / "a"), "new");
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(AtomicFile, SaysWhyItCannotBeWritten) {
  const TempDir dir;
  EXPECT_DATA_ERROR(write_file(dir / "no/such/a", "x"), "its directory does not exist");
  EXPECT_DATA_ERROR(write_file(dir.path(), "x"), "is a directory");
  EXPECT_DATA_ERROR(write_file("/dev/full/x", "x"), "its directory does not exist");
}

TEST(AtomicDirectory, NeverReplacesWithoutForce) {
  const TempDir dir;
  dir.write("out/mine.txt", "precious");
  EXPECT_USAGE_ERROR(AtomicDirectory(dir / "out", false, {}), "--force");
  EXPECT_USAGE_ERROR(AtomicDirectory(dir / "out/mine.txt", true, {}), "not a directory");
  dir.write("out/stale.npz", "old");
  dir.write("out/kept.csv", "old");
  {
    AtomicDirectory target(dir / "out/", true, {"stale.npz", "kept.csv", "split/x"});
    std::ofstream(target.staging_path() + "/kept.csv") << "new";
    fs::create_directory(target.staging_path() + "/split");
    std::ofstream(target.staging_path() + "/split/x") << "deep";
    target.commit();
  }
  EXPECT_EQ(slurp(dir / "out/mine.txt"), "precious");
  EXPECT_EQ(slurp(dir / "out/kept.csv"), "new");
  EXPECT_EQ(slurp(dir / "out/split/x"), "deep");
  EXPECT_FALSE(fs::exists(dir / "out/stale.npz"));
  EXPECT_EQ(entries(dir.path()), 1u);
}

TEST(AtomicDirectory, LeavesNothingIfNotCommitted) {
  const TempDir dir;
  { AtomicDirectory target(dir / "new", false, {}); }
  EXPECT_EQ(entries(dir.path()), 0u);
}

TEST(AtomicFile, MessagesNameWhatTheUserAskedFor) {
  const TempDir dir;
  const AtomicFile file(dir / "a.npy");
  const AtomicDirectory directory(dir / "shards", false, {});
  const std::string message = directory.staging_path() + "/part.bin: No space left on device, " + file.staging_path();
  EXPECT_EQ(with_final_names(message), dir / "shards/part.bin" + ": No space left on device, " + (dir / "a.npy"));
  EXPECT_EQ(with_final_names("nothing to replace"), "nothing to replace");
}

}  // namespace
}  // namespace graphpae
