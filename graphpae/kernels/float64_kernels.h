// Loops whose sums run in float64. Nothing here allocates or starts threads; arrays need no alignment unless it is
// said.
#pragma once

#include <cstdint>

namespace graphpae::kernels {

double dot(const double* a, const double* b, int64_t n);

// Products of float32 rows with one vector, for optima that must be exact. y = x v: x is [n,d], v [d], y [n].
void exact_product(const float* x, const double* v, int64_t n, int64_t d, double* y);

// d_v += x^T d_y: x is [n,d], d_y [n], d_v [d].
void add_exact_gradient(const float* x, const double* d_y, int64_t n, int64_t d, double* d_v);

// Rows of a table that are not where they were.
struct MovedRows {
  const int32_t* row_of = nullptr;  // [N] where a row is now, or -1; null: none has moved
  const double* rows = nullptr;     // [M,k]
  const float* clean = nullptr;     // [E] the distances before; may be `distances`
};

// distances[e] = ||table[sources[e]] - table[targets[e]]|| for e in [first, last), e below E. `table` is [N,k],
// row-major.
void edge_distances(const double* table, int64_t k, const int32_t* sources, const int32_t* targets, int64_t first,
                    int64_t last, float* distances, const MovedRows& moved = {});

// Of the dense symmetric eigen-solver: row -= fv v + fw w over n entries; returns row . next afterwards.
double update_row(double* row, const double* v, double fv, const double* w, double fw, const double* next, int64_t n);

// A strip is 16 rows of a matrix stored column by column, [n,16] with the 16 rows contiguous, aligned to 64 bytes.
inline constexpr int64_t kStripRows = 16;

// strip (I - tau v v^T), for columns 0 .. n-1 of `strip` and entries of v.
void reflect_strip(double* strip, const double* v, double tau, int64_t n);

// Plane rotations of neighbouring columns, for i = count-1 down to 0:
//   (column i, column i+1) = (c[i] column i - s[i] column i+1, s[i] column i + c[i] column i+1)
void rotate_strip(double* strip, const double* c, const double* s, int64_t count);

}  // namespace graphpae::kernels
