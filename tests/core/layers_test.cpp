// Dependencies point one way: a room of graphpae/ includes itself and the rooms before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace graphpae {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kRooms = {"core",     "io",      "kernels",  "data",   "positions", "blocks",
                                         "evaluate", "analyze", "settings", "report", "ops",       "distributed",
                                         "model",    "methods", "train",    "run",    "reproduce", "cli"};

size_t place_of(const std::string& room) {
  return static_cast<size_t>(std::find(kRooms.begin(), kRooms.end(), room) - kRooms.begin());
}

// Every #include of every source file: the file below graphpae/, what is included, as written.
template <class Visit>
void for_includes(const Visit& visit) {
  const fs::path root = fs::path(GRAPHPAE_SOURCE_DIR) / "graphpae";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const size_t first = line.find_first_of("<\""), last = line.find_last_of(">\"");
      if (line.starts_with("#include") && first < last)
        visit(fs::relative(entry.path(), root), line.substr(first + 1, last - first - 1));
    }
  }
}

TEST(Layers, RoomsIncludeOnlyThoseBeforeThem) {
  int64_t seen = 0;
  for_includes([&](const fs::path& file, const std::string& included) {
    const fs::path path(included);
    if (*path.begin() != "graphpae" || std::distance(path.begin(), path.end()) < 3) return;
    const std::string room = file.begin()->string(), other = std::next(path.begin())->string();
    if (std::distance(file.begin(), file.end()) < 2) return;  // the umbrella headers see all
    ++seen;
    EXPECT_LT(place_of(room), kRooms.size()) << file << " is in a room that has no place in the order";
    EXPECT_LE(place_of(other), place_of(room)) << file << " includes " << included;
  });
  EXPECT_GT(seen, 500);
}

TEST(Layers, LibTorchStaysInItsRooms) {
  for_includes([&](const fs::path& file, const std::string& included) {
    if (!included.starts_with("torch/") && !included.starts_with("ATen/") && !included.starts_with("c10/")) return;
    const size_t room = place_of(file.begin()->string());
    const bool allowed = room >= place_of("ops") &&
                         (room <= place_of("train") || (file.begin()->string() == "run" && file.extension() == ".cpp"));
    EXPECT_TRUE(allowed) << file << " includes " << included;
  });
}

// The headers of a library each stand behind one file of ours.
TEST(Layers, LibrariesStandBehindOneFile) {
  std::map<std::string, std::set<std::string>> users;
  for_includes([&](const fs::path& file, const std::string& included) {
    for (const std::string library : {"matio.h", "zip.h", "curl/curl.h", "expat.h", "GraphMol/GraphMol.h"}) {
      if (included == library) users[library].insert(file.string());
    }
  });
  for (const auto& [library, files] : users) EXPECT_EQ(files.size(), 1u) << library;
  EXPECT_GE(users.size(), 3u);
}

}  // namespace
}  // namespace graphpae
