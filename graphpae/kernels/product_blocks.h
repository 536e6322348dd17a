// How the output of a dense product is cut into blocks, the work of one thread each.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/core/threads.h"

namespace graphpae::kernels {

constexpr int64_t kTileRowsUnit = 12;     // a multiple of the rows of any tile
constexpr int64_t kTileColumnsUnit = 64;  // a multiple of the columns of any tile
constexpr int64_t kMostDepth = 384;       // terms of a sum that are added in registers at a time
constexpr int64_t kPackedRows = 120;      // of A at a time: a multiple of the rows of any tile
constexpr int64_t kPackedColumns = 1024;  // of B at a time

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A part of the output of a product.
struct Block {
  int64_t row, rows, column, columns;
  int64_t work() const { return rows * columns; }
};

// All of an output [m,n]. The blocks may depend on the number of threads: the bits of a sum do not depend on its block.
std::vector<Block> output_blocks(int64_t m, int64_t n, Threads threads);

// Blocks that cover the lower triangle of an output [n,n] (and the rest of the diagonal blocks), larger ones first.
std::vector<Block> triangle_blocks(int64_t n);

}  // namespace graphpae::kernels
