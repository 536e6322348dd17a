// Shards on disk, and molecules in pieces on the way there.
#include "graphpae/data/molecule_shards.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "graphpae/data/molecule_stream.h"
#include "tests/support/expect_error.h"
#include "tests/support/shards.h"
#include "tests/support/small_molecules.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using test::slurp;
using test::TempDir;

Settings settings() { return test::small_molecule_settings(); }

ShardManifest write(const std::string& directory, int64_t molecules = 10) {
  return test::write_shards(directory, test::random_molecules(molecules), settings(), 4);
}

TEST(MoleculeShards, RoundTrip) {
  const TempDir dir;
  const GraphSet set = test::odd_set();  // one row has no atoms
  const ShardManifest written = test::write_shards(dir / "s", set, settings(), 4);
  const ShardSet shards(dir / "s");
  const ShardManifest& manifest = shards.manifest();
  EXPECT_EQ(manifest.molecules(), 5);
  EXPECT_EQ(manifest.atoms(), 17);
  EXPECT_EQ(manifest.bonds(), 11);
  EXPECT_EQ(manifest.largest, 6);
  EXPECT_EQ(manifest.k, 4);
  EXPECT_EQ(manifest.featurizer, Featurizer::transfer);
  EXPECT_EQ(manifest.position_settings, position_settings(settings()));
  EXPECT_EQ(manifest.content_sha256, written.content_sha256);
  ASSERT_EQ(shards.num_shards(), 2);

  const GraphSetParts& all = set.parts();
  const ShardContent first = shards.read(0), second = shards.read(1);
  const GraphSetParts& a = first.molecules.parts();
  const GraphSetParts& b = second.molecules.parts();
  EXPECT_EQ(a.node_offsets, (std::vector<int64_t>{0, 6, 7, 11, 13}));
  EXPECT_EQ(b.node_offsets, (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(b.edge_offsets, (std::vector<int64_t>{0, 3}));
  const auto joined = [](auto x, const auto& y) {
    x.insert(x.end(), y.begin(), y.end());
    return x;
  };
  EXPECT_EQ(joined(a.edges, b.edges), all.edges);
  EXPECT_EQ(joined(a.node_codes.values, b.node_codes.values), all.node_codes.values);
  EXPECT_EQ(joined(a.edge_codes.values, b.edge_codes.values), all.edge_codes.values);
  const GraphBatch graphs{all.node_offsets, all.edge_offsets, all.edges};
  EXPECT_EQ(joined(first.positions, second.positions),
            position_batch(graphs, position_options(settings())).eigenvectors);
}

TEST(MoleculeShards, TheContentHasOneHash) {
  const TempDir dir;
  const std::string hash = write(dir / "a").content_sha256;
  EXPECT_EQ(write(dir / "b").content_sha256, hash);
  EXPECT_EQ(slurp(dir / "a/shards.json"), slurp(dir / "b/shards.json"));
  EXPECT_NE(write(dir / "c", 9).content_sha256, hash);
}

TEST(MoleculeShards, DamageIsNamed) {
  const TempDir dir;
  write(dir / "s");
  const std::string path = dir / "s/shard-00001.bin", whole = slurp(path);
  for (const size_t place : {size_t{3}, size_t{40}, size_t{80}, whole.size() / 2, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    dir.write("s/shard-00001.bin", damaged);
    const ShardSet shards(dir / "s");
    EXPECT_NO_THROW(shards.read(0));
    EXPECT_DATA_ERROR(shards.read(1), path + ": checksum differs: the file is damaged");
    EXPECT_DATA_ERROR(shards.read(1), path + ": checksum differs: the file is damaged");  // and again
  }
  for (const size_t length : {whole.size() - 1, size_t{64}, size_t{10}, size_t{0}}) {
    dir.write("s/shard-00001.bin", whole.substr(0, length));
    EXPECT_DATA_ERROR(ShardSet(dir / "s").read(1), path + ": has " + std::to_string(length) + " bytes, expected");
  }
  fs::remove(path);
  EXPECT_DATA_ERROR(ShardSet(dir / "s").read(1), path + ": No such file");
  dir.write("s/shard-00001.bin", whole);
  EXPECT_NO_THROW(ShardSet(dir / "s").read(1));
}

TEST(MoleculeShards, DamagedAndNewerManifests) {
  const TempDir dir;
  write(dir / "s");
  const std::string path = dir / "s/shards.json", whole = slurp(path);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  dir.write("s/shards.json", replaced("\"version\": 1", "\"version\": 2"));
  EXPECT_DATA_ERROR(ShardSet(dir / "s"), path + ": version 2 of the shard format, this program reads 1");
  dir.write("s/shards.json", replaced("\"molecules\": 4", "\"molecules\": 5"));
  EXPECT_DATA_ERROR(ShardSet(dir / "s"), path + ": checksum differs: the file is damaged");
  dir.write("s/shards.json", replaced("\"molecules\": 4", "\"molecules\": -4"));
  EXPECT_DATA_ERROR(ShardSet(dir / "s"), path + ": checksum differs: the file is damaged");
  dir.write("s/shards.json", replaced("graphpae shards", "other"));
  EXPECT_DATA_ERROR(ShardSet(dir / "s"), path + ": not a manifest of shards");
  for (const std::string& text : {whole.substr(0, whole.size() / 2), std::string(), std::string("[1]")}) {
    dir.write("s/shards.json", text);
    EXPECT_DATA_ERROR(ShardSet(dir / "s"), path + ": damaged");
  }
}

TEST(MoleculeShards, WrittenCompletelyOrNotAtAll) {
  const TempDir dir;
  {
    ShardManifest form;
    ShardWriter writer(dir / "s", false, form);
    const GraphSet set = test::random_molecules(3);
    writer.add(set.parts(), {});
  }
  EXPECT_TRUE(fs::is_empty(dir.path()));
  write(dir / "s");
  EXPECT_USAGE_ERROR(write(dir / "s"), "exists and is not empty");
  // Fewer shards over more leave none of the old ones.
  ShardWriter writer(dir / "s", true, ShardManifest());
  const GraphSet set = test::random_molecules(3);
  writer.add(set.parts(), {});
  writer.finish();
  EXPECT_EQ(ShardSet(dir / "s").manifest().molecules(), 3);
  EXPECT_TRUE(fs::exists(dir / "s/shard-00000.bin"));
  EXPECT_FALSE(fs::exists(dir / "s/shard-00001.bin"));
  ShardWriter nothing(dir / "n", false, ShardManifest());
  EXPECT_DATA_ERROR(nothing.finish(), "there are no molecules to write");
}

std::vector<int64_t> sizes_in_pieces(const std::string& path, int64_t rows, std::vector<std::string>& notes,
                                     OnInvalid on_invalid = OnInvalid::skip, StreamCounts* counts = nullptr) {
  LoadOptions options;
  options.on_invalid = on_invalid;
  options.featurizer = Featurizer::transfer;
  std::vector<int64_t> sizes;  // of pieces
  GraphSetParts joined;
  const StreamCounts found =
      stream_molecules(smiles_file_of(path, options), options, rows, notes, [&](const GraphSetParts& parts, int64_t) {
        sizes.push_back(parts.num_graphs);
        EXPECT_NO_THROW(GraphSet{parts});
      });
  EXPECT_EQ(found.rows, count_rows(smiles_file_of(path, options), options));
  if (counts != nullptr) *counts = found;
  return sizes;
}

TEST(MoleculeStream, TablesAndLists) {
  const TempDir dir;
  std::vector<std::string> notes;
  const std::string list = "CC\nCCO\nC\n\nCCC\nN\n";
  EXPECT_EQ(sizes_in_pieces(dir.write("a.smi", "smiles\n#x\n" + list), 2, notes), (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(sizes_in_pieces(dir.write("b.csv", list), 5, notes), (std::vector<int64_t>{5}));
  EXPECT_EQ(sizes_in_pieces(dir.write("c.csv", "y,smiles\n1,CC\nx,CCO\n,C\n"), 2, notes), (std::vector<int64_t>{2, 1}));
  dir.write("d/molecules.csv", "smiles\nCC\nC\n");
  EXPECT_EQ(sizes_in_pieces(dir / "d", 1, notes), (std::vector<int64_t>{1, 1}));
  EXPECT_TRUE(notes.empty());
  EXPECT_DATA_ERROR(sizes_in_pieces(dir.write("e.csv", "y,smiles\n1,CC\n2\n"), 1, notes), "e.csv:3: 1 columns");
  EXPECT_DATA_ERROR(sizes_in_pieces(dir.write("f.csv", "smiles\n"), 1, notes), "f.csv: holds no molecules");
  EXPECT_EQ(smiles_file_of(dir.write("g.csv", "src,dst\n0,1\n"), {}), "");
  EXPECT_EQ(smiles_file_of(dir.write("h.sdf", "\n"), {}), "");
  dir.write("d/graphs.npz", "x");
  EXPECT_EQ(smiles_file_of(dir / "d", {}), "");
}

TEST(MoleculeStream, RowsThatAreNoMolecules) {
  const TempDir dir;
  std::vector<std::string> notes;
  StreamCounts counts;
  const std::string path = dir.write("m.csv", "smiles\nCC\nnot\nno\nnor\nC\nCO\nneither\n");
  EXPECT_EQ(sizes_in_pieces(path, 2, notes, OnInvalid::skip, &counts), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(counts.rows, 7);
  EXPECT_EQ(counts.invalid, 4);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("line 3"), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("m.csv: 4 of 7 rows in all are not molecules and were left out"), std::string::npos)
      << notes[1];
  EXPECT_DATA_ERROR(sizes_in_pieces(path, 2, notes, OnInvalid::fail), "m.csv:3: 'not' is not a valid SMILES");
  EXPECT_DATA_ERROR(sizes_in_pieces(dir.write("n.csv", "smiles\nnot\nno\nnor\n"), 2, notes), "is not a valid SMILES");
}

}  // namespace
}  // namespace graphpae
