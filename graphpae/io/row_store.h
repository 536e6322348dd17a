// RowStore: a table [rows, columns] of float32 that is written and read in blocks of rows, in memory or in a temporary
// file without a name.
#pragma once

#include <cstdint>
#include <cstdio>

#include "graphpae/core/buffer.h"

namespace graphpae {

class RowStore {
 public:
  RowStore(int64_t rows, int64_t columns, bool in_memory);
  ~RowStore();
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  // Columns [first_column, first_column + width) of rows [first, first + count), values [count, width]. Throws a data
  // error if the temporary file cannot be written or read.
  void write(int64_t first, int64_t count, int64_t first_column, int64_t width, const float* values);
  void read(int64_t first, int64_t count, float* values) const;  // all columns

 private:
  int64_t rows_, columns_;
  Buffer<float> memory_;
  std::FILE* file_ = nullptr;  // null: in memory
};

}  // namespace graphpae
