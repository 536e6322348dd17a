// KernelSum: several kernels added with weights, and, if `bent`, a Gaussian of the distances in the space of the sum:
// it sees which properties of several blocks come together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graphpae/evaluate/kernel_rows.h"

namespace graphpae {

using KernelList = std::vector<std::shared_ptr<const Kernel>>;

struct KernelSum {
  struct Part {
    int64_t kernel = 0;  // of a list
    double weight = 1;   // above 0
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;
  bool bent = false;

  double total() const;                     // of the weights
  void add(int64_t kernel, double weight);  // to the part of the kernel, if there is one
  bool operator==(const KernelSum&) const = default;
};

// k [left,right] of a sum that is not bent becomes that of the bent one; a [left] and b [right] are the sums of rows
// with themselves.
void bend(Buffer<float>& k, std::span<const double> a, std::span<const double> b, double total);

// [left,right]
Buffer<float> between(const KernelSum& sum, const KernelList& kernels, std::span<const int32_t> left,
                      std::span<const int32_t> right, Threads threads);

}  // namespace graphpae
