#include "graphpae/data/known_data.h"

#include <gtest/gtest.h>

#include "graphpae/data/summary.h"
#include "graphpae/io/sha256.h"
#include "graphpae/io/zip_archive.h"
#include "tests/support/expect_error.h"
#include "tests/support/http_server.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using test::HttpServer;
using test::TempDir;

struct KnownDataTest : testing::Test {
  TempDir dir;
  HttpServer server;
  FetchOptions fetch;
  std::string hash;
  KnownDataTest() {
    const std::string edges = "src,dst\n0,1\n1,2\n";
    hash = content_hash(load(dir.write("source.csv", edges)).graph(), HashSplits::no);
    write_zip(dir / "a.zip", {{"inner/edges.csv", edges}});
    server.files["/a.zip"] = test::slurp(dir / "a.zip");
    fetch.download_to = dir / "cache";
    fetch.places = {dir / "cache"};
  }
  std::vector<KnownData> registry(const std::string& more) const {
    return parse_known_data("tiny:\n  files:\n    - {url: '" + server.url("/a.zip") +
                            "', name: a.zip, unzip: true}\n  load: inner\n" + more);
  }
};

TEST_F(KnownDataTest, DownloadsVerifiesAndKeeps) {
  const auto known = registry("  content_sha256: " + hash + "\n");
  EXPECT_EQ(load_path_or_name("tiny", {}, fetch, known).graph().num_nodes(), 3);
  EXPECT_EQ(server.requests, 1);
  EXPECT_EQ(load_path_or_name("tiny", {}, fetch, known).graph().num_nodes(), 3);
  EXPECT_EQ(server.requests, 1);  // from the cache
  fetch.offline = true;
  EXPECT_EQ(load_path_or_name("tiny", {}, fetch, known).graph().num_nodes(), 3);
}

TEST_F(KnownDataTest, OfflineNeverTouchesTheNetwork) {
  fetch.offline = true;
  EXPECT_DATA_ERROR(load_path_or_name("tiny", {}, fetch, registry("  content_sha256: " + hash + "\n")),
                    "--offline forbids");
  EXPECT_EQ(server.requests, 0);
}

TEST_F(KnownDataTest, RefusesOtherContentAndKeepsNothing) {
  EXPECT_DATA_ERROR(load_path_or_name("tiny", {}, fetch, registry("  content_sha256: " + std::string(64, 'f') + "\n")),
                    "expected ffff");
  EXPECT_TRUE(fs::is_empty(dir / "cache"));
}

TEST_F(KnownDataTest, UnknownChecksumsNeedTrust) {
  EXPECT_DATA_ERROR(load_path_or_name("tiny", {}, fetch, registry("")), "--trust-download");
  EXPECT_EQ(server.requests, 0);
  fetch.trust = true;
  EXPECT_EQ(load_path_or_name("tiny", {}, fetch, registry("")).graph().num_nodes(), 3);
}

TEST_F(KnownDataTest, LooksInItsPlacesFirst) {
  dir.write("mine/tiny/edges.csv", "src,dst\n0,4\n");
  dir.write("mine/unlisted/edges.csv", "src,dst\n0,6\n");
  fetch.places = {dir / "mine"};
  EXPECT_EQ(load_path_or_name("tiny", {}, fetch, registry("")).graph().num_nodes(), 5);
  EXPECT_EQ(load_path_or_name("unlisted", {}, fetch, registry("")).graph().num_nodes(), 7);
  EXPECT_DATA_ERROR(load_path_or_name("tinny", {}, fetch, registry("")), "did you mean 'tiny'?");
  EXPECT_EQ(server.requests, 0);
}

TEST_F(KnownDataTest, ContinuesAfterAFailedDownload) {
  server.break_after = 20;
  fetch.trust = true;
  EXPECT_EQ(load_path_or_name("tiny", {}, fetch, registry("")).graph().num_nodes(), 3);
  EXPECT_EQ(server.requests, 2);
  EXPECT_EQ(server.last_range, "Range: bytes=20-");
}

TEST(KnownData, TheRegistryIsWellFormed) {
  const auto all = known_data();
  EXPECT_GE(all.size(), 16u);
  for (const KnownData& known : all) {
    EXPECT_FALSE(known.files.empty()) << known.name;
    EXPECT_FALSE(known.load.empty()) << known.name;
    EXPECT_TRUE(known.content_sha256.empty() || known.content_sha256.size() == 64) << known.name;
    for (const KnownFile& file : known.files) EXPECT_TRUE(file.url.starts_with("http")) << known.name;
  }
}

}  // namespace
}  // namespace graphpae
