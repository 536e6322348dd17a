// GramMatrix: products of the columns of a matrix X [rows,columns] with each other, in float64, over ranges of rows.
#pragma once

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
        panels_((columns + kernels::kPanelColumns - 1) / kernels::kPanelColumns),
        values_(panels_ * rows * kernels::kPanelColumns) {
    for (int64_t panel = 0; panel < panels_; ++panel) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t c = 0; c < kernels::kPanelColumns; ++c) {
          const int64_t column = panel * kernels::kPanelColumns + c;
          values_[(panel * rows + i) * kernels::kPanelColumns + c] = column < columns ? entry(i, column) : 0.0;
        }
      }
    }
  }

  // X^T X of the rows first .. last-1: [columns,columns], symmetric bit by bit, the same for any number of threads.
  std::vector<double> of_rows(int64_t first, int64_t last, Threads threads) const;

 private:
  int64_t rows_, columns_, panels_;
  AlignedArray<double> values_;  // [panels,rows,16]
};

}  // namespace graphpae
