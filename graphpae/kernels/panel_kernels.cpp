#include "graphpae/kernels/panel_kernels.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/panel_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A row of a panel is kVectors vectors of kLanes lanes, known at compile time.
template <class T>
using Tag = hn::CappedTag<T, kPanelColumns>;
template <class T>
inline constexpr size_t kLanes = hn::MaxLanes(Tag<T>());
template <class T>
inline constexpr size_t kVectors = kPanelColumns / kLanes<T>;

// Rows summed in T before the sum moves to float64: short enough for float32 to lose nothing that matters.
constexpr int64_t kGramRun = 128;

// kLeft columns of `left` at a time, so that their products with a whole row of `right` stay in registers.
template <class T, size_t kLeft>
HWY_INLINE void GramColumns(const T* HWY_RESTRICT left, const T* HWY_RESTRICT right, int64_t rows,
                            double* HWY_RESTRICT gram) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  V sum[kLeft][kVectors<T>];
  for (size_t c = 0; c < kLeft; ++c) {
    for (size_t v = 0; v < kVectors<T>; ++v) sum[c][v] = hn::Zero(d);
  }
  for (int64_t i = 0; i < rows; ++i) {
    V row[kVectors<T>];
    for (size_t v = 0; v < kVectors<T>; ++v) row[v] = hn::Load(d, right + i * kPanelColumns + v * kLanes<T>);
    for (size_t c = 0; c < kLeft; ++c) {
      const V factor = hn::Set(d, left[i * kPanelColumns + c]);
      for (size_t v = 0; v < kVectors<T>; ++v) sum[c][v] = hn::MulAdd(factor, row[v], sum[c][v]);
    }
  }
  HWY_ALIGN T lanes[kLanes<T>];
  for (size_t c = 0; c < kLeft; ++c) {
    for (size_t v = 0; v < kVectors<T>; ++v) {
      hn::Store(sum[c][v], d, lanes);
      for (size_t l = 0; l < kLanes<T>; ++l)
        gram[c * kPanelColumns + v * kLanes<T> + l] += static_cast<double>(lanes[l]);
    }
  }
}

template <class T>
HWY_INLINE void Gram(const T* left, const T* right, int64_t rows, double* gram) {
  // 16 left columns in as few passes as the register file allows.
  constexpr size_t kLeft = kVectors<T> == 1 ? 16 : kVectors<T> == 2 ? 4 : 2;
  for (int64_t begin = 0; begin < rows; begin += kGramRun) {
    const int64_t run = std::min(kGramRun, rows - begin);
    for (size_t c = 0; c < kPanelColumns; c += kLeft) {
      GramColumns<T, kLeft>(left + begin * kPanelColumns + c, right + begin * kPanelColumns, run,
                            gram + c * kPanelColumns);
    }
  }
}

template <class T, size_t kRows>
HWY_INLINE void AddProductRows(const T* HWY_RESTRICT left, const T* HWY_RESTRICT factor, T* HWY_RESTRICT out) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  V sum[kRows][kVectors<T>];
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors<T>; ++v) sum[r][v] = hn::Load(d, out + r * kPanelColumns + v * kLanes<T>);
  }
  for (size_t k = 0; k < kPanelColumns; ++k) {
    V row[kVectors<T>];
    for (size_t v = 0; v < kVectors<T>; ++v) row[v] = hn::LoadU(d, factor + k * kPanelColumns + v * kLanes<T>);
    for (size_t r = 0; r < kRows; ++r) {
      const V value = hn::Set(d, left[r * kPanelColumns + k]);
      for (size_t v = 0; v < kVectors<T>; ++v) sum[r][v] = hn::MulAdd(value, row[v], sum[r][v]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors<T>; ++v) hn::Store(sum[r][v], d, out + r * kPanelColumns + v * kLanes<T>);
  }
}

template <class T>
HWY_INLINE void AddProduct(const T* left, const T* factor, int64_t rows, T* out) {
  constexpr size_t kRows = kVectors<T> == 1 ? 8 : kVectors<T> == 2 ? 4 : 2;
  int64_t i = 0;
  for (; i + static_cast<int64_t>(kRows) <= rows; i += kRows) {
    AddProductRows<T, kRows>(left + i * kPanelColumns, factor, out + i * kPanelColumns);
  }
  for (; i < rows; ++i) AddProductRows<T, 1>(left + i * kPanelColumns, factor, out + i * kPanelColumns);
}

// Edges between a prefetch and its use: about one memory latency.
constexpr int64_t kPrefetchAhead = 24;

template <class T>
HWY_INLINE void WalkRows(const WalkStep<T>& step, int64_t first, int64_t last) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  // Several independent sums hide the latency of the additions.
  constexpr int64_t kStreams = kVectors<T> <= 2 ? 4 : kVectors<T> <= 4 ? 2 : 1;
  const int64_t* HWY_RESTRICT offsets = step.offsets;
  const int32_t* HWY_RESTRICT neighbours = step.neighbours;
  const T* current = step.current;
  const int64_t last_prefetch = step.num_neighbours - kPrefetchAhead - kStreams;

  for (int64_t i = first; i < last; ++i) {
    V sum[kStreams][kVectors<T>];
    for (int64_t s = 0; s < kStreams; ++s) {
      for (size_t v = 0; v < kVectors<T>; ++v) sum[s][v] = hn::Zero(d);
    }
    int64_t e = offsets[i];
    const int64_t end = offsets[i + 1];
    const T degree = static_cast<T>(end - e);
    for (; e + kStreams <= end; e += kStreams) {
      if (e <= last_prefetch) {
        for (int64_t s = 0; s < kStreams; ++s) {
          const T* ahead = current + int64_t{neighbours[e + kPrefetchAhead + s]} * kPanelColumns;
          hwy::Prefetch(ahead);
          if constexpr (sizeof(T) == 8) hwy::Prefetch(ahead + 8);
        }
      }
      for (int64_t s = 0; s < kStreams; ++s) {
        const T* row = current + int64_t{neighbours[e + s]} * kPanelColumns;
        for (size_t v = 0; v < kVectors<T>; ++v) sum[s][v] = hn::Add(sum[s][v], hn::Load(d, row + v * kLanes<T>));
      }
    }
    for (; e < end; ++e) {
      if (e <= last_prefetch) {
        const T* ahead = current + int64_t{neighbours[e + kPrefetchAhead]} * kPanelColumns;
        hwy::Prefetch(ahead);
        if constexpr (sizeof(T) == 8) hwy::Prefetch(ahead + 8);
      }
      const T* row = current + int64_t{neighbours[e]} * kPanelColumns;
      for (size_t v = 0; v < kVectors<T>; ++v) sum[0][v] = hn::Add(sum[0][v], hn::Load(d, row + v * kLanes<T>));
    }
    const T scale = step.scale_by_root_degree ? std::sqrt(degree) : T{1};
    const V walk = hn::Set(d, scale * step.walk / degree);
    const V self = hn::Set(d, scale * step.self);
    const V past = hn::Set(d, scale * step.past);
    for (size_t v = 0; v < kVectors<T>; ++v) {
      for (int64_t s = 1; s < kStreams; ++s) sum[0][v] = hn::Add(sum[0][v], sum[s][v]);
      const int64_t at = i * kPanelColumns + static_cast<int64_t>(v * kLanes<T>);
      V result = hn::MulAdd(self, hn::Load(d, current + at), hn::Mul(walk, sum[0][v]));
      if (step.past != T{0}) result = hn::MulAdd(past, hn::Load(d, step.previous + at), result);
      hn::Store(result, d, step.out + at);
    }
  }
}

void GramF32(const float* left, const float* right, int64_t rows, double* gram) { Gram(left, right, rows, gram); }
void GramF64(const double* left, const double* right, int64_t rows, double* gram) { Gram(left, right, rows, gram); }
void AddProductF32(const float* left, const float* factor, int64_t rows, float* out) {
  AddProduct(left, factor, rows, out);
}
void AddProductF64(const double* left, const double* factor, int64_t rows, double* out) {
  AddProduct(left, factor, rows, out);
}
void WalkRowsF32(const WalkStep<float>& step, int64_t first, int64_t last) { WalkRows(step, first, last); }
void WalkRowsF64(const WalkStep<double>& step, int64_t first, int64_t last) { WalkRows(step, first, last); }

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(GramF32);
HWY_EXPORT(GramF64);
HWY_EXPORT(AddProductF32);
HWY_EXPORT(AddProductF64);
HWY_EXPORT(WalkRowsF32);
HWY_EXPORT(WalkRowsF64);

void panel_gram(const float* left, const float* right, int64_t rows, double* gram) {
  HWY_DYNAMIC_DISPATCH(GramF32)(left, right, rows, gram);
}
void panel_gram(const double* left, const double* right, int64_t rows, double* gram) {
  HWY_DYNAMIC_DISPATCH(GramF64)(left, right, rows, gram);
}
void panel_add_product(const float* left, const float* factor, int64_t rows, float* out) {
  HWY_DYNAMIC_DISPATCH(AddProductF32)(left, factor, rows, out);
}
void panel_add_product(const double* left, const double* factor, int64_t rows, double* out) {
  HWY_DYNAMIC_DISPATCH(AddProductF64)(left, factor, rows, out);
}
void walk_rows(const WalkStep<float>& step, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(WalkRowsF32)(step, first, last);
}
void walk_rows(const WalkStep<double>& step, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(WalkRowsF64)(step, first, last);
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
