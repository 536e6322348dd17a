// .mat files of graphs.
#include <gtest/gtest.h>
#include <matio.h>

#include "graphpae/data/load.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

// .mat files through matio, as MATLAB would write them.
class MatWriter {
 public:
  explicit MatWriter(const std::string& path) : file_(Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5)) {}
  ~MatWriter() { Mat_Close(file_); }

  void dense(const char* name, size_t rows, size_t columns, std::vector<double> column_major) {
    size_t dims[] = {rows, columns};
    write(Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, column_major.data(), 0));
  }
  void sparse(const char* name, size_t rows, size_t columns, std::vector<mat_uint32_t> ir, std::vector<mat_uint32_t> jc,
              std::vector<double> data) {
    size_t dims[] = {rows, columns};
    mat_sparse_t sparse{};
    sparse.nzmax = static_cast<mat_uint32_t>(data.size());
    sparse.ir = ir.data();
    sparse.nir = static_cast<mat_uint32_t>(ir.size());
    sparse.jc = jc.data();
    sparse.njc = static_cast<mat_uint32_t>(jc.size());
    sparse.data = data.data();
    sparse.ndata = static_cast<mat_uint32_t>(data.size());
    write(Mat_VarCreate(name, MAT_C_SPARSE, MAT_T_DOUBLE, 2, dims, &sparse, MAT_F_DONT_COPY_DATA));
  }

 private:
  void write(matvar_t* variable) {
    ASSERT_NE(variable, nullptr);
    ASSERT_EQ(Mat_VarWrite(file_, variable, MAT_COMPRESSION_ZLIB), 0);
    Mat_VarFree(variable);
  }
  mat_t* file_;
};

TEST(Load, MatFacebook100) {
  const TempDir dir;
  {
    MatWriter mat(dir / "a.mat");
    mat.sparse("A", 4, 4, {1, 0, 2, 1, 3, 2}, {0, 1, 3, 5, 6}, {1, 1, 1, 1, 1, 1});
    // status, gender, major: one column after the other.
    mat.dense("local_info", 4, 3, {1, 2, 1, 1, /**/ 1, 2, 1, 0, /**/ 0, 77, 50, 77});
  }
  const Dataset data = load(dir / "a.mat");
  const Graph& graph = data.graph();
  EXPECT_EQ(graph.adjacency().num_edges(), 3);
  EXPECT_EQ(graph.labels(), (std::vector<int32_t>{0, 1, 0, kUnlabelled}));
  EXPECT_EQ(graph.features().columns(), 2 + 3);  // status 1 2; major 0 50 77
  EXPECT_EQ(std::vector<int32_t>(graph.features().indices().begin(), graph.features().indices().end()),
            (std::vector<int32_t>{0, 2, 1, 4, 0, 3, 0, 4}));
}

TEST(Load, MatAttributedNetwork) {
  const TempDir dir;
  {
    MatWriter mat(dir / "a.mat");
    mat.sparse("network", 4, 4, {1, 0, 2, 1, 3, 2}, {0, 1, 3, 5, 6}, {1, 1, 1, 1, 1, 1});
    mat.sparse("Attributes", 4, 2, {0, 2, 1, 3}, {0, 2, 4}, {1, 3, 1, 1});
    mat.dense("LABEL", 4, 1, {1, 3, 1, 3});
  }
  const Dataset data = load(dir / "a.mat");
  const Graph& graph = data.graph();
  EXPECT_EQ(graph.labels(), (std::vector<int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(graph.features().nonzeros(), 4);
  EXPECT_EQ(graph.features().sparse_row(2).values[0], 3.0f);
  {
    MatWriter mat(dir / "b.mat");
    mat.dense("other", 1, 1, {1});
  }
  EXPECT_DATA_ERROR(load(dir / "b.mat"), "no variable A or Network (found: other)");
  {
    MatWriter mat(dir / "c.mat");
    mat.dense("A", 2, 2, {0, 1, 1, 0});
    mat.dense("Label", 3, 1, {1, 2, 3});
  }
  EXPECT_DATA_ERROR(load(dir / "c.mat"), "variable 'Label': is 3 x 1, expected one label for each of 2 nodes");
  {
    MatWriter mat(dir / "f.mat");
    mat.dense("A", 2, 2, {0, 1, 1, 0});
    mat.sparse("Attributes", 2000000000, 1, {0}, {0, 1}, {1});  // would need 16 GB
  }
  EXPECT_DATA_ERROR(load(dir / "f.mat"), "variable 'Attributes': is 2000000000 x 1, expected 2 rows");
  EXPECT_DATA_ERROR(load(dir.write("d.mat", "not a mat file")), "not a readable .mat file");
  EXPECT_DATA_ERROR(load(dir / "e.mat"), "no such file");
}

}  // namespace
}  // namespace graphpae
