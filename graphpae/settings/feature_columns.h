// Columns of a feature matrix: what is in them, and matrices made of some of them. No LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/features.h"

namespace graphpae {

struct ColumnFacts {
  double mean = 0, deviation = 0;  // over all rows, zeros included; deviation with N
  float low = 0, high = 0;
  bool bits = true;    // nothing but 0 and 1
  bool counts = true;  // nothing but 0, 1, 2, ...

  bool constant() const { return low == high; }
};
std::vector<ColumnFacts> column_facts(const Features& x);  // [F]

// Whether any column has two values. Mostly much faster than looking at all of column_facts.
bool varies(const Features& x);

// Whether the columns are better standardised: they are dense (at least a quarter of the values differ from zero), not
// all 0 and 1, and not counts of which at least half are zero.
bool wants_standard(const Features& x, std::span<const ColumnFacts> facts);

// The matrix without the columns `dropped`, ascending.
Features without_columns(const Features& x, std::span<const int32_t> dropped);

// (x - shift) * factor by column, shift and factor [F]. A sparse matrix stays sparse and is not shifted.
Features scaled(const Features& x, std::span<const float> shift, std::span<const float> factor);

// [N, F+G] rows of both side by side; sparse if `left` is.
Features side_by_side(const Features& left, const Features& right);

// Every row divided by its sum; rows that sum to 0 are left as they are.
Features row_normalised(const Features& x);

}  // namespace graphpae
