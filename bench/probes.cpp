#include "bench/probes.h"

#include <torch/torch.h>

#include <vector>

#include "bench/measure.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/probes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace graphpae::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Multiply-adds on ten independent sums; returns the floating-point operations done.
double MultiplyAdd(int64_t rounds, float* out) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, 1.0000001f), b = hn::Set(d, 1e-7f);
  auto s0 = hn::Set(d, 0.0f), s1 = hn::Set(d, 0.1f), s2 = hn::Set(d, 0.2f), s3 = hn::Set(d, 0.3f),
       s4 = hn::Set(d, 0.4f), s5 = hn::Set(d, 0.5f), s6 = hn::Set(d, 0.6f), s7 = hn::Set(d, 0.7f),
       s8 = hn::Set(d, 0.8f), s9 = hn::Set(d, 0.9f);
  for (int64_t r = 0; r < rounds; ++r) {
    s0 = hn::MulAdd(s0, a, b), s1 = hn::MulAdd(s1, a, b), s2 = hn::MulAdd(s2, a, b), s3 = hn::MulAdd(s3, a, b);
    s4 = hn::MulAdd(s4, a, b), s5 = hn::MulAdd(s5, a, b), s6 = hn::MulAdd(s6, a, b), s7 = hn::MulAdd(s7, a, b);
    s8 = hn::MulAdd(s8, a, b), s9 = hn::MulAdd(s9, a, b);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)),
                           hn::Add(hn::Add(hn::Add(s4, s5), hn::Add(s6, s7)), hn::Add(s8, s9)));
  *out = hn::GetLane(hn::SumOfLanes(d, sum));
  return static_cast<double>(rounds) * 10 * 2 * static_cast<double>(hn::Lanes(d));
}

float Read(const float* HWY_RESTRICT from, int64_t count) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  for (int64_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, from + i)), s1 = hn::Add(s1, hn::LoadU(d, from + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, from + i + 2 * lanes)), s3 = hn::Add(s3, hn::LoadU(d, from + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

}  // namespace HWY_NAMESPACE
}  // namespace graphpae::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::bench {

HWY_EXPORT(MultiplyAdd);
HWY_EXPORT(Read);

Probes run_probes(Threads threads) {
  constexpr int kRuns = 15;
  Probes probes;
  std::vector<double> done(static_cast<size_t>(threads.count) * 8);
  std::vector<float> sink(static_cast<size_t>(threads.count) * 16);
  const double fma_seconds = best_seconds(kRuns, [&] {
#pragma omp parallel for num_threads(threads.count) schedule(static, 1)
    for (int t = 0; t < threads.count; ++t) done[t * 8] = HWY_DYNAMIC_DISPATCH(MultiplyAdd)(4'000'000, &sink[t * 16]);
  });
  for (int t = 0; t < threads.count; ++t) probes.fma_gflops += done[t * 8] / fma_seconds / 1e9;

  constexpr int64_t kSmall = (256 << 10) / 4, kPasses = 2000;
  std::vector<std::vector<float>> small(static_cast<size_t>(threads.count), std::vector<float>(kSmall, 1.0f));
  const double l2_seconds = best_seconds(kRuns, [&] {
#pragma omp parallel for num_threads(threads.count) schedule(static, 1)
    for (int t = 0; t < threads.count; ++t) {
      for (int64_t pass = 0; pass < kPasses; ++pass)
        sink[t * 16] += HWY_DYNAMIC_DISPATCH(Read)(small[t].data(), kSmall);
    }
  });
  probes.l2_gb_per_s = static_cast<double>(threads.count) * kSmall * 4 * kPasses / l2_seconds / 1e9;

  const torch::NoGradGuard no_grad;
  const torch::Tensor from = torch::ones({64 << 20}), to = torch::empty({64 << 20});
  probes.stream_gb_per_s = 2.0 * 4 * (64 << 20) / best_seconds(kRuns, [&] { torch::Tensor(to).copy_(from); }) / 1e9;
  const torch::Tensor a = torch::ones({1024, 1024}), b = torch::ones({1024, 1024}), c = torch::empty({1024, 1024});
  torch::Tensor out = c;
  probes.product_gflops = 2.0 * 1024 * 1024 * 1024 / best_seconds(kRuns, [&] { torch::mm_out(out, a, b); }) / 1e9;
  return probes;
}

}  // namespace graphpae::bench
#endif  // HWY_ONCE
