#include "graphpae/evaluate/kernel_sum.h"

#include <algorithm>
#include <cmath>

namespace graphpae {

double KernelSum::total() const {
  double total = 0;
  for (const Part& part : parts) total += part.weight;
  return total;
}

void KernelSum::add(int64_t kernel, double weight) {
  for (Part& part : parts) {
    if (part.kernel == kernel) return void(part.weight += weight);
  }
  parts.push_back({kernel, weight});
}

// Kernels are scaled so that rows are 2 apart, squared, on average.
void bend(Buffer<float>& k, std::span<const double> a, std::span<const double> b, double total) {
  const size_t n = b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < n; ++j) {
      const double distance = std::max(0.0, a[i] + b[j] - 2.0 * static_cast<double>(k[i * n + j]));
      k[i * n + j] = static_cast<float>(std::exp(-distance / (2 * total)));
    }
  }
}

Buffer<float> between(const KernelSum& sum, const KernelList& kernels, std::span<const int32_t> left,
                      std::span<const int32_t> right, Threads threads) {
  Buffer<float> total(left.size() * right.size());
  std::fill(total.begin(), total.end(), 0.0f);
  std::vector<double> a(left.size(), 0), b(right.size(), 0);
  for (const KernelSum::Part& part : sum.parts) {
    const Kernel& kernel = *kernels[part.kernel];
    const Buffer<float> k = kernel.between(left, right, threads);
    const auto weight = static_cast<float>(part.weight);
    for (size_t i = 0; i < k.size(); ++i) total[i] += weight * k[i];
    if (!sum.bent) continue;
    const std::vector<double> of_left = kernel.with_itself(left), of_right = kernel.with_itself(right);
    for (size_t i = 0; i < a.size(); ++i) a[i] += part.weight * of_left[i];
    for (size_t j = 0; j < b.size(); ++j) b[j] += part.weight * of_right[j];
  }
  if (sum.bent) bend(total, a, b, sum.total());
  return total;
}

}  // namespace graphpae
