// Embeddings on disk, by suffix: .npy (an array [N,d] float32), .npz (arrays "embeddings" and, if nodes have names,
// "names"), .csv and .tsv (a header "node,e0,e1,...", numbers that read back to the same float32).
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

#include "graphpae/core/text_column.h"
#include "graphpae/io/atomic_file.h"

namespace graphpae {

// Throws a usage error if the suffix is none of these.
void check_embedding_path(const std::string& path);

// values [rows, columns] row-major; names [rows] or empty: then rows are numbered. `row_name` heads their column in a
// table: "node", "molecule". Written completely or not at all.
void write_embeddings(const std::string& path, std::span<const float> values, int64_t rows, int64_t columns,
                      const TextColumn& names, const std::string& row_name = "node");

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

}  // namespace graphpae
