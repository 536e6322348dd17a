#include "graphpae/evaluate/gram.h"

#include <algorithm>
#include <array>

namespace graphpae {

using kernels::kPanelColumns;

std::vector<double> GramMatrix::of_rows(int64_t first, int64_t last, Threads threads) const {
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

}  // namespace graphpae
