// GramMatrix: products of the columns of a matrix X [rows,columns] with each other, in float64, over ranges of rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/panel_kernels.h"

namespace graphpae {

class GramMatrix {
 public:
  // entry(row, column) is read once for each entry of X.
  template <class Entry>
  GramMatrix(int64_t rows, int64_t columns, const Entry& entry)
      : rows_(rows),
        columns_(columns),
        panels_((columns + kPanelColumns - 1) / kPanelColumns),
        values_(panels_ * rows * kPanelColumns) {
    for (int64_t panel = 0; panel < panels_; ++panel) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t c = 0; c < kPanelColumns; ++c) {
          const int64_t column = panel * kPanelColumns + c;
          values_[(panel * rows + i) * kPanelColumns + c] = column < columns ? entry(i, column) : 0.0;
        }
      }
    }
  }

  // X^T X of the rows first .. last-1: [columns,columns], symmetric bit by bit, the same for any number of threads.
  std::vector<double> of_rows(int64_t first, int64_t last, Threads threads) const {
    std::vector<double> gram(static_cast<size_t>(columns_ * columns_));
    const auto panel_at = [&](int64_t panel) { return values_.data() + (panel * rows_ + first) * kPanelColumns; };
    parallel_tasks(threads, panels_, [&](int64_t task) {
      const int64_t a = panels_ - 1 - task;  // the longest first
      for (int64_t b = 0; b <= a; ++b) {
        std::array<double, kPanelColumns * kPanelColumns> block{};
        kernels::panel_gram(panel_at(a), panel_at(b), last - first, block.data());
        for (int64_t i = 0; i < std::min(kPanelColumns, columns_ - a * kPanelColumns); ++i) {
          for (int64_t j = 0; j < std::min(kPanelColumns, columns_ - b * kPanelColumns); ++j) {
            const int64_t row = a * kPanelColumns + i, column = b * kPanelColumns + j;
            gram[row * columns_ + column] = gram[column * columns_ + row] = block[i * kPanelColumns + j];
          }
        }
      }
    });
    return gram;
  }

 private:
  static constexpr int64_t kPanelColumns = kernels::kPanelColumns;
  int64_t rows_, columns_, panels_;
  AlignedArray<double> values_;  // [panels,rows,16]
};

}  // namespace graphpae
