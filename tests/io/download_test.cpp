#include "graphpae/io/download.h"

#include <gtest/gtest.h>

#include "graphpae/io/sha256.h"
#include "tests/support/expect_error.h"
#include "tests/support/http_server.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using test::HttpServer;
using test::slurp;
using test::TempDir;

std::string content() {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += static_cast<char>(i * 31 % 251);
  return text;
}

std::string sum_of(const std::string& bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.hex();
}

TEST(Download, FetchesAndVerifies) {
  const TempDir dir;
  HttpServer server;
  server.files["/a"] = content();
  DownloadOptions options;
  options.sha256 = sum_of(content());
  int64_t reported = 0;
  options.progress = [&](int64_t done, int64_t total) { reported = done == total ? total : reported; };
  EXPECT_EQ(download(server.url("/a"), dir / "a", options), options.sha256);
  EXPECT_EQ(slurp(dir / "a"), content());
  EXPECT_FALSE(fs::exists(dir / "a.part"));
  EXPECT_EQ(reported, 100000);
}

TEST(Download, AWrongSumLeavesNothing) {
  const TempDir dir;
  HttpServer server;
  server.files["/a"] = content();
  DownloadOptions options;
  options.sha256 = std::string(64, '0');
  EXPECT_DATA_ERROR(download(server.url("/a"), dir / "a", options), "expected 0000");
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

TEST(Download, ContinuesABrokenTransfer) {
  const TempDir dir;
  HttpServer server;
  server.files["/a"] = content();
  server.break_after = 40000;
  DownloadOptions options;
  options.sha256 = sum_of(content());
  download(server.url("/a"), dir / "a", options);
  EXPECT_EQ(slurp(dir / "a"), content());
  EXPECT_EQ(server.requests, 2);
  EXPECT_EQ(server.last_range, "Range: bytes=40000-");
}

TEST(Download, ContinuesAfterTheProgramDied) {
  const TempDir dir;
  HttpServer server;
  server.files["/a"] = content();
  dir.write("a.part", content().substr(0, 70000));
  download(server.url("/a"), dir / "a", {});
  EXPECT_EQ(slurp(dir / "a"), content());
  EXPECT_EQ(server.last_range, "Range: bytes=70000-");
}

TEST(Download, StartsAgainWhereTheServerCannotContinue) {
  const TempDir dir;
  HttpServer server;
  server.files["/a"] = content();
  server.ranges = false;
  dir.write("a.part", "wrong bytes");
  download(server.url("/a"), dir / "a", {});
  EXPECT_EQ(slurp(dir / "a"), content());
}

TEST(Download, StartsAgainIfThePartIsTooLong) {
  const TempDir dir;
  HttpServer server;
  server.files["/a"] = content();
  dir.write("a.part", content() + "more");
  download(server.url("/a"), dir / "a", {});
  EXPECT_EQ(slurp(dir / "a"), content());
}

TEST(Download, KeepsThePartWhenItGivesUp) {
  const TempDir dir;
  HttpServer server;
  server.files["/a"] = content();
  server.break_after = 1000;
  DownloadOptions options;
  options.attempts = 1;
  EXPECT_DATA_ERROR(download(server.url("/a"), dir / "a", options), "download failed");
  EXPECT_EQ(fs::file_size(dir / "a.part"), 1000u);
  EXPECT_FALSE(fs::exists(dir / "a"));
}

TEST(Download, NamesTheAddressThatFails) {
  const TempDir dir;
  HttpServer server;
  EXPECT_DATA_ERROR(download(server.url("/missing"), dir / "a"),
                    "/missing: download failed: The requested URL returned error: 404");
  EXPECT_DATA_ERROR(download("http://127.0.0.1:1/x", dir / "a"), "127.0.0.1:1/x: download failed");
}

}  // namespace
}  // namespace graphpae
