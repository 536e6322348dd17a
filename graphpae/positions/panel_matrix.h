// PanelMatrix: a tall matrix of N rows stored as panels of 16 columns, and the products an eigen-solver
// needs on it. Every sum runs over fixed ranges of rows in a fixed order: any number of threads gives
// the same bits.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "graphpae/core/threads.h"
#include "graphpae/kernels/panel_kernels.h"

namespace graphpae {

inline constexpr int64_t kPanel = kernels::kPanelColumns;

// T is float or double.
template <class T>
class PanelMatrix {
 public:
  // Contents are zero; pages are taken from the system when first written. Throws a memory error.
  PanelMatrix(int64_t rows, int64_t panels);

  int64_t rows() const { return rows_; }
  int64_t panels() const { return panels_; }
  T* panel(int64_t index) { return data_.get() + index * rows_ * kPanel; }              // [N,16]
  const T* panel(int64_t index) const { return data_.get() + index * rows_ * kPanel; }  // [N,16]
  T& at(int64_t row, int64_t column) { return panel(column / kPanel)[row * kPanel + column % kPanel]; }
  T at(int64_t row, int64_t column) const { return panel(column / kPanel)[row * kPanel + column % kPanel]; }

 private:
  struct Unmap {
    size_t bytes = 0;
    void operator()(T* data) const { munmap(data, bytes); }
  };
  int64_t rows_ = 0;
  int64_t panels_ = 0;
  std::unique_ptr<T, Unmap> data_;
};

// Coefficients of products with panels: blocks of 16 x 16, row-major, one after the other.
using PanelBlocks = std::vector<double>;
inline constexpr int64_t kBlockSize = kPanel * kPanel;

// A range of panels, first <= p < last.
struct PanelRange {
  int64_t first;
  int64_t last;
  int64_t count() const { return last - first; }
};

// V^T w for the panels `range` of `basis` as V and w, [N,16]: one block per panel.
template <class T>
PanelBlocks project(const PanelMatrix<T>& basis, PanelRange range, const T* w, Threads threads);

// w -= V `coefficients`.
template <class T>
void subtract(const PanelMatrix<T>& basis, PanelRange range, const PanelBlocks& coefficients, T* w, Threads threads);

// w^T w, one block.
template <class T>
PanelBlocks gram(const T* w, int64_t rows, Threads threads);

// w = w * factor, in place, factor [16,16].
template <class T>
void multiply_panel(T* w, int64_t rows, const PanelBlocks& factor, Threads threads);

// The first `to` panels become (first `from` panels) * factor, factor [16 from, 16 to] row-major.
template <class T>
void rotate(PanelMatrix<T>& basis, int64_t from, int64_t to, const std::vector<double>& factor, Threads threads);

}  // namespace graphpae
