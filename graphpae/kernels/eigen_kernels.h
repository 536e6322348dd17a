// Inner loops of the dense symmetric eigen-solver, in float64. Nothing here allocates or starts threads.
//
// A strip is 16 rows of a matrix stored column by column, [n,16] with the 16 rows contiguous.
#pragma once

#include <cstdint>

namespace graphpae::kernels {

inline constexpr int64_t kStripRows = 16;

double dot(const double* a, const double* b, int64_t n);

// row -= fv v + fw w over n entries; returns row . next afterwards.
double update_row(double* row, const double* v, double fv, const double* w, double fw, const double* next, int64_t n);

// strip (I - tau v v^T), for columns 0 .. n-1 of `strip` and entries of v. `strip` must be aligned to 64 bytes.
void reflect_strip(double* strip, const double* v, double tau, int64_t n);

// Plane rotations of neighbouring columns, for i = count-1 down to 0:
//   (column i, column i+1) = (c[i] column i - s[i] column i+1, s[i] column i + c[i] column i+1)
void rotate_strip(double* strip, const double* c, const double* s, int64_t count);

}  // namespace graphpae::kernels
