#include "graphpae/kernels/product_blocks.h"

#include <algorithm>
#include <utility>

namespace graphpae::kernels {
namespace {

// A and B are packed again for each block, at about 3 % of the time for blocks of this size.
constexpr int64_t kBlockRows = 960;
constexpr int64_t kBlockColumns = 1024;
constexpr int64_t kLeastSide = 120;  // of a block that is cut smaller to occupy more threads
constexpr int64_t kSymmetricRows = 240;

// Cuts [0, n) into `parts` of nearly the same size whose inner borders are multiples of whole tiles.
std::pair<int64_t, int64_t> aligned_part(int64_t n, int64_t index, int64_t parts, int64_t unit) {
  const auto border = [&](int64_t i) { return i == parts ? n : n * i / parts / unit * unit; };
  return {border(index), border(index + 1)};
}

}  // namespace

std::vector<Block> output_blocks(int64_t m, int64_t n, Threads threads) {
  int64_t row_parts = divide_up(m, kBlockRows), column_parts = divide_up(n, kBlockColumns);
  while (threads.count > 1 && row_parts * column_parts < 2 * threads.count) {
    const bool rows_fit = m / row_parts >= 2 * kLeastSide, columns_fit = n / column_parts >= 2 * kLeastSide;
    if (!rows_fit && !columns_fit) break;
    if (columns_fit && (!rows_fit || n / column_parts > m / row_parts)) {
      column_parts *= 2;
    } else {
      row_parts *= 2;
    }
  }
  // As many for each thread.
  while (threads.count > 1 && row_parts * column_parts % threads.count != 0 && m / row_parts >= 2 * kLeastSide)
    ++row_parts;
  std::vector<Block> blocks;
  blocks.reserve(row_parts * column_parts);
  for (int64_t j = 0; j < column_parts; ++j) {
    const auto [column, column_end] = aligned_part(n, j, column_parts, kTileColumnsUnit);
    for (int64_t i = 0; i < row_parts; ++i) {
      const auto [row, row_end] = aligned_part(m, i, row_parts, kTileRowsUnit);
      if (row < row_end && column < column_end) blocks.push_back({row, row_end - row, column, column_end - column});
    }
  }
  return blocks;
}

std::vector<Block> triangle_blocks(int64_t n) {
  std::vector<Block> blocks;
  for (int64_t row_end = n; row_end > 0;) {
    const int64_t row = (row_end - 1) / kSymmetricRows * kSymmetricRows;
    const int64_t parts = divide_up(row_end, kBlockColumns);
    for (int64_t j = 0; j < parts; ++j) {
      const auto [column, column_end] = aligned_part(row_end, j, parts, kTileColumnsUnit);
      if (column < column_end) blocks.push_back({row, row_end - row, column, column_end - column});
    }
    row_end = row;
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.work() > b.work(); });
  return blocks;
}

}  // namespace graphpae::kernels
