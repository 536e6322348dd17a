#include "graphpae/kernels/adam.h"

#include <algorithm>
#include <cmath>

#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/adam.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

#ifndef GRAPHPAE_KERNELS_ADAM_SCALARS
#define GRAPHPAE_KERNELS_ADAM_SCALARS
namespace graphpae::kernels {

// The factors of one step, computed in float64 and rounded once.
struct StepFactors {
  float decay = 0;      // of the parameter, added to the gradient
  float shrink = 1;     // of the parameter itself
  float rate = 0;       // lr, or lr / (1 - beta1^t)
  float new_first = 0;  // 1 - beta1
  float beta2 = 0;
  float new_second = 0;       // 1 - beta2
  float root_correction = 1;  // sqrt(1 - beta2^t)
  float epsilon = 0;
};

}  // namespace graphpae::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

void AdamRange(const StepFactors& factors, const float* HWY_RESTRICT gradient, int64_t begin, int64_t end,
               float* HWY_RESTRICT parameter, float* HWY_RESTRICT first, float* HWY_RESTRICT second) {
  const StepFactors f = factors;
  for_columns(begin, end, [&](auto d, int64_t i) HWY_ATTR {
    auto p = hn::LoadU(d, parameter + i);
    const auto g = hn::MulAdd(hn::Set(d, f.decay), p, hn::LoadU(d, gradient + i));
    p = hn::Mul(p, hn::Set(d, f.shrink));
    auto m = hn::LoadU(d, first + i);
    m = hn::MulAdd(hn::Set(d, f.new_first), hn::Sub(g, m), m);
    auto v = hn::Mul(hn::LoadU(d, second + i), hn::Set(d, f.beta2));
    v = hn::MulAdd(hn::Mul(g, g), hn::Set(d, f.new_second), v);
    const auto root = hn::Div(hn::Sqrt(v), hn::Set(d, f.root_correction));
    const auto step = hn::Div(m, hn::Add(root, hn::Set(d, f.epsilon)));
    hn::StoreU(m, d, first + i);
    hn::StoreU(v, d, second + i);
    hn::StoreU(hn::NegMulAdd(step, hn::Set(d, f.rate), p), d, parameter + i);
  });
}

void SgdRange(const StepFactors& factors, const float* HWY_RESTRICT gradient, int64_t begin, int64_t end,
              float* HWY_RESTRICT parameter) {
  const StepFactors f = factors;
  for_columns(begin, end, [&](auto d, int64_t i) HWY_ATTR {
    const auto p = hn::LoadU(d, parameter + i);
    const auto g = hn::MulAdd(hn::Set(d, f.decay), p, hn::LoadU(d, gradient + i));
    hn::StoreU(hn::NegMulAdd(g, hn::Set(d, f.rate), p), d, parameter + i);
  });
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(AdamRange);
HWY_EXPORT(SgdRange);

void update_parameter(const UpdateOptions& options, int64_t step, const float* gradient, int64_t n, float* parameter,
                      float* first, float* second, Threads threads) {
  const bool sgd = options.rule == UpdateRule::kSgd;
  StepFactors factors;
  if (options.rule == UpdateRule::kAdamW) {
    factors.shrink = static_cast<float>(1 - options.rate * options.weight_decay);
  } else {
    factors.decay = static_cast<float>(options.weight_decay);
  }
  if (sgd) {
    factors.rate = static_cast<float>(options.rate);
  } else {
    const double t = static_cast<double>(step);
    factors.rate = static_cast<float>(options.rate / (1 - std::pow(options.beta1, t)));
    factors.new_first = static_cast<float>(1 - options.beta1);
    factors.beta2 = static_cast<float>(options.beta2);
    factors.new_second = static_cast<float>(1 - options.beta2);
    factors.root_correction = static_cast<float>(std::sqrt(1 - std::pow(options.beta2, t)));
    factors.epsilon = static_cast<float>(options.epsilon);
  }
  constexpr int64_t kRange = 1 << 14;  // a multiple of every vector length: ranges give the same bits as one loop
  const int team = n <= 4 * kRange ? 1 : threads.count;  // a small update is over before a team has started
  for_parts((n + kRange - 1) / kRange, team, [&](int64_t part) {
    const int64_t begin = part * kRange, end = std::min(n, begin + kRange);
    if (sgd) {
      HWY_DYNAMIC_DISPATCH(SgdRange)(factors, gradient, begin, end, parameter);
    } else {
      HWY_DYNAMIC_DISPATCH(AdamRange)(factors, gradient, begin, end, parameter, first, second);
    }
  });
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
