#include "graphpae/kernels/edge_distance.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/edge_distance.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void EdgeDistances(const double* HWY_RESTRICT table, int64_t k, const int32_t* HWY_RESTRICT sources,
                   const int32_t* HWY_RESTRICT targets, int64_t first, int64_t last, float* distances) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t e = first; e < last; ++e) {
    const double* a = table + int64_t{sources[e]} * k;
    const double* b = table + int64_t{targets[e]} * k;
    auto sum = hn::Zero(d);
    int64_t j = 0;
    for (; j + lanes <= k; j += lanes) {
      const auto difference = hn::Sub(hn::LoadU(d, a + j), hn::LoadU(d, b + j));
      sum = hn::MulAdd(difference, difference, sum);
    }
    double total = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; j < k; ++j) total += (a[j] - b[j]) * (a[j] - b[j]);
    distances[e] = static_cast<float>(std::sqrt(total));
  }
}

void EdgeDistancesWithNoise(const double* HWY_RESTRICT table, int64_t k, const int32_t* HWY_RESTRICT sources,
                            const int32_t* HWY_RESTRICT targets, const int32_t* HWY_RESTRICT noise_row,
                            const double* HWY_RESTRICT noise, const float* clean, int64_t first, int64_t last,
                            float* distances) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t e = first; e < last; ++e) {
    const int64_t row_a = noise_row[sources[e]], row_b = noise_row[targets[e]];
    if (row_a == 0 && row_b == 0) {
      distances[e] = clean[e];
      continue;
    }
    const double* a = table + int64_t{sources[e]} * k;
    const double* b = table + int64_t{targets[e]} * k;
    const double* noise_a = noise + row_a * k;
    const double* noise_b = noise + row_b * k;
    auto sum = hn::Zero(d);
    int64_t j = 0;
    for (; j + lanes <= k; j += lanes) {
      const auto noisy_a = hn::Add(hn::LoadU(d, a + j), hn::LoadU(d, noise_a + j));
      const auto noisy_b = hn::Add(hn::LoadU(d, b + j), hn::LoadU(d, noise_b + j));
      const auto difference = hn::Sub(noisy_a, noisy_b);
      sum = hn::MulAdd(difference, difference, sum);
    }
    double total = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; j < k; ++j) {
      const double difference = (a[j] + noise_a[j]) - (b[j] + noise_b[j]);
      total += difference * difference;
    }
    distances[e] = static_cast<float>(std::sqrt(total));
  }
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(EdgeDistances);
HWY_EXPORT(EdgeDistancesWithNoise);

void edge_distances(const double* table, int64_t k, const int32_t* sources, const int32_t* targets, int64_t first,
                    int64_t last, float* distances) {
  HWY_DYNAMIC_DISPATCH(EdgeDistances)(table, k, sources, targets, first, last, distances);
}

void edge_distances_with_noise(const double* table, int64_t k, const int32_t* sources, const int32_t* targets,
                               const int32_t* noise_row, const double* noise, const float* clean, int64_t first,
                               int64_t last, float* distances) {
  HWY_DYNAMIC_DISPATCH(EdgeDistancesWithNoise)
  (table, k, sources, targets, noise_row, noise, clean, first, last, distances);
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
