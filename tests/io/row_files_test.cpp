#include "graphpae/io/row_files.h"

#include "graphpae/io/npy.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

TEST(EmbeddingFile, EverySuffix) {
  const TempDir dir;
  const std::vector<float> values = {1.5f, -2.0f, 0.1f, 3e-20f};
  TextColumn names;
  names.push_back("a,\"b\"");
  names.push_back("c");
  write_embeddings(dir / "e.npy", values, 2, 2, names);
  const NpyArray array = read_npy(dir / "e.npy");
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 2}));
  const Buffer<float> read = array.to_float();
  EXPECT_EQ(std::vector<float>(read.begin(), read.end()), values);

  write_embeddings(dir / "e.npz", values, 2, 2, names);
  const NpzFile npz(dir / "e.npz");
  EXPECT_EQ(npz.names(), (std::vector<std::string>{"embeddings", "names"}));
  EXPECT_EQ(npz.read("names").item_size, 5);

  write_embeddings(dir / "e.csv", values, 2, 2, names);
  EXPECT_EQ(test::slurp(dir / "e.csv"), "node,e0,e1\n\"a,\"\"b\"\"\",1.5,-2\nc,0.1,3e-20\n");
  write_embeddings(dir / "e.tsv", values, 2, 2, {});
  EXPECT_EQ(test::slurp(dir / "e.tsv"), "node\te0\te1\n0\t1.5\t-2\n1\t0.1\t3e-20\n");
  EXPECT_USAGE_ERROR(write_embeddings(dir / "e.pkl", values, 2, 2, {}), "expected .npy, .npz, .csv or .tsv");
}

}  // namespace
}  // namespace graphpae
