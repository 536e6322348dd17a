// Rows of numbers on disk, the kind of file by its suffix. Tables (.csv, .tsv) have a header and a name per row.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "graphpae/core/text_column.h"
#include "graphpae/io/atomic_file.h"

namespace graphpae {

// Embeddings: .npy (an array [N,d] float32), .npz (arrays "embeddings" and, if nodes have names, "names"), or a table
// with a header "node,e0,e1,..." and numbers that read back to the same float32. Throws a usage error if the suffix is
// none of these.
void check_embedding_path(const std::string& path);

// The user's own names of rows, in a column in front of all others.
struct RowIds {
  std::string name;  // heads the column
  TextColumn ids;    // [rows], or empty: there is none
};

// Columns of an embedding that belong together, from the left.
struct ColumnGroup {
  std::string name;
  int64_t width = 0;
};

// values [rows, columns] row-major; names [rows] or empty: then rows are numbered. `row_name` heads their column in a
// table: "node", "molecule". Ids are an array "ids" in .npz. Groups name the columns of a table ("degree0") and are
// arrays "blocks" and "widths" of .npz; .npy has no place for them. Written completely or not at all.
void write_embeddings(const std::string& path, std::span<const float> values, int64_t rows, int64_t columns,
                      const TextColumn& names, const std::string& row_name = "node", const RowIds& ids = {},
                      const std::vector<ColumnGroup>& groups = {});

// The same as .npy, row after row, for more rows than fit into memory.
class EmbeddingRows {
 public:
  EmbeddingRows(const std::string& path, int64_t rows, int64_t columns);

  // The next rows. Throws a data error if they cannot be written.
  void add(std::span<const float> values);
  void commit();  // all rows are there

 private:
  void check() const;

  std::string path_;
  AtomicFile file_;
  std::ofstream stream_;
};

// Predictions: a table with empty fields for what is not known, or .npy (an array [R,T] float64, NaN for what is not
// known).
struct PredictionTable {
  RowIds ids;
  std::string row_name;              // heads the first column: "smiles", "row", "node"
  TextColumn rows;                   // [R] names, or empty: rows are numbered
  std::string label_name;            // heads the second column, if there are labels
  std::vector<std::string> labels;   // [R] predicted classes, or empty
  std::vector<std::string> columns;  // [T]
  std::span<const double> values;    // [R,T], NaN: not known
};

// Throws a usage error if the suffix is none of these.
void check_prediction_path(const std::string& path);

// Written completely or not at all. Numbers of a table have seven digits, as many as float32 carries.
void write_predictions(const std::string& path, const PredictionTable& table);

}  // namespace graphpae
