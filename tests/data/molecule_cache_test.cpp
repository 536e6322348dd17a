#include "graphpae/data/molecule_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/expect_error.h"
#include "tests/support/molecules.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::column;
using test::expect_equal;
using test::parse;

TEST(MoleculeCache, GivesBackWhatWasStored) {
  const test::TempDir dir;
  const MoleculeCache cache(dir / "new/cache");
  for (const std::vector<std::string>& texts : {std::vector<std::string>{"CCO", "CC(", "c1ccccc1", "", "[He]"},
                                                {"[He]"},
                                                {"CC("},
                                                {},
                                                {std::string(300, 'C')},
                                                {std::string(70000, 'C'), "N"}}) {
    const ParsedMolecules m = parse(texts);
    const std::string key = molecule_key(column(texts), Featurizer::ogb);
    EXPECT_FALSE(cache.find(key));
    cache.store(key, m);
    const auto found = cache.find(key);
    ASSERT_TRUE(found);
    expect_equal(*found, m);
  }
}

TEST(MoleculeCache, IgnoresDamagedFiles) {
  const test::TempDir dir;
  const MoleculeCache cache(dir.path());
  const ParsedMolecules m = parse({"CCO", "CC("});
  const std::string key(64, 'a'), path = dir / ("molecules-" + key + ".bin");
  cache.store(key, m);
  const std::string bytes = test::slurp(path);
  ASSERT_GT(bytes.size(), 64u);
  const auto replace = [&](const std::string& text) { std::ofstream(path, std::ios::binary) << text; };
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] ^= 1;
    replace(changed);
    EXPECT_FALSE(cache.find(key)) << "byte " << at;
    replace(bytes.substr(0, at));
    EXPECT_FALSE(cache.find(key)) << "cut at " << at;
  }
  replace(bytes + "x");
  EXPECT_FALSE(cache.find(key));
  replace(bytes);
  EXPECT_TRUE(cache.find(key));
  const std::string other(64, 'b');
  std::filesystem::copy_file(path, dir / ("molecules-" + other + ".bin"));
  EXPECT_FALSE(cache.find(other)) << "another key's molecules";
  replace("");
  cache.store(key, m);
  expect_equal(cache.find(key).value(), m);
}

TEST(MoleculeCache, KeysFollowTextsAndFeaturizer) {
  const auto key = [](const std::vector<std::string>& texts, Featurizer featurizer = Featurizer::ogb) {
    return molecule_key(column(texts), featurizer);
  };
  EXPECT_EQ(key({"CC", "C"}), key({"CC", "C"}));
  EXPECT_NE(key({"CC", "C"}), key({"C", "CC"}));
  EXPECT_NE(key({"CC", "C"}), key({"CCC"}));
  EXPECT_NE(key({"CC"}), key({"CC"}, Featurizer::transfer));
}

TEST(MoleculeCache, CannotBeWrittenIntoAFile) {
  const test::TempDir dir;
  const std::string file = dir.write("file", "x");
  EXPECT_DATA_ERROR(MoleculeCache(file).store("k", parse({"C"})), file);
}

}  // namespace
}  // namespace graphpae
