// `graphpae methods`, `graphpae settings` and the program behind `graphpae bench`, from outside.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace graphpae {
namespace {

using nlohmann::json;
using test::expect_failure;
using test::Outcome;
using test::run;
using test::TempDir;

TEST(CliMethods, ListAndOne) {
  const TempDir dir;
  EXPECT_NE(run(dir, "methods").out.find("  graphpae "), std::string::npos);
  const json list = json::parse(run(dir, "methods --json").out);
  EXPECT_EQ(list.at(0).at("name"), "graphpae");
  const Outcome one = run(dir, "methods graphpae");
  EXPECT_NE(one.out.find("learns from: one graph, molecules"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("KDD 2025"), std::string::npos) << one.out;
  EXPECT_TRUE(json::parse(run(dir, "methods graphpae --json").out).contains("settings"));
  expect_failure(dir, "methods graphpea", 2, "did you mean 'graphpae'?");
}

TEST(CliSettings, ListAndOne) {
  const TempDir dir;
  const json list = json::parse(run(dir, "settings --json").out);
  EXPECT_GT(list.size(), 40u);
  const json width = json::parse(run(dir, "settings width --json").out);
  EXPECT_EQ(width.at("type"), "integer");
  EXPECT_EQ(width.at("default"), "1024");
  EXPECT_NE(std::find(list.begin(), list.end(), width), list.end());
  EXPECT_TRUE(run(dir, "settings width").out.starts_with("width: ")) << run(dir, "settings width").out;
  EXPECT_NE(run(dir, "settings").out.find("  finetune."), std::string::npos);
  expect_failure(dir, "settings widht", 2, "did you mean 'width'?");
}

// A copy of the program that stands alone has no benchmarks.
TEST(CliBench, IsAProgramOfItsOwn) {
  const TempDir dir;
  std::filesystem::copy_file(GRAPHPAE_PROGRAM, dir / "alone");
  const int status = std::system(("'" + (dir / "alone") + "' bench 2>'" + (dir / ".err") + "'").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(test::slurp(dir / ".err"), "graphpae: error: benchmarks are not built; `./run bench` builds them\n");
}

}  // namespace
}  // namespace graphpae
