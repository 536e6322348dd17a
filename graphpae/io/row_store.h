// RowStore: a table [rows, columns] of float32 that is written and read in blocks of rows, in memory or in a temporary
// file without a name. Columns may be written in parts; each part is stored by itself, so that blocks are in one piece.
#pragma once

#include <cstdint>
#include <cstdio>

#include "graphpae/core/buffer.h"

namespace graphpae {

class RowStore {
 public:
  // Parts have `part_columns` columns, the last one what is left.
  RowStore(int64_t rows, int64_t columns, int64_t part_columns, bool in_memory);
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  // Rows [first, first + count) of a part, values [count, its columns]. Throws a data error if the temporary file
  // cannot be written or read.
  void write(int64_t part, int64_t first, int64_t count, const float* values);
  void read(int64_t first, int64_t count, float* values) const;  // all columns

 private:
  int64_t width_of(int64_t part) const;
  int64_t place_of(int64_t part, int64_t row) const { return part * part_columns_ * rows_ + row * width_of(part); }
  void read_part(int64_t part, int64_t first, int64_t count, float* values) const;

  int64_t rows_, columns_, part_columns_;
  Buffer<float> memory_;
  std::FILE* file_ = nullptr;  // null: in memory
};

}  // namespace graphpae
