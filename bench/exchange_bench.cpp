#include "bench/exchange_bench.h"

#include <torch/torch.h>

#include "bench/measure.h"
#include "graphpae/kernels/adam.h"

namespace graphpae::bench {

ExchangeBench run_exchange_bench(Processes& processes, int repeat) {
  constexpr int kSmallSums = 100;
  ExchangeBench bench;
  std::vector<double> numbers(601, 1.0);
  const double small = median_seconds(repeat, [&] {
    for (int k = 0; k < kSmallSums; ++k) {
      numbers.assign(numbers.size(), 1.0);
      processes.sum(numbers);
    }
  });
  bench.small_us = small / kSmallSums * 1e6;

  const torch::Tensor gradients = torch::ones({bench.parameters}, torch::kFloat32);
  bench.gradient_ms = 1e3 * median_seconds(repeat, [&] {
                        gradients.fill_(1);
                        processes.begin_sum(gradients)->wait();
                      });

  std::vector<float> parameters(static_cast<size_t>(bench.parameters), 1), first(parameters), second(parameters);
  kernels::UpdateOptions options;
  options.rule = kernels::UpdateRule::kAdam;
  options.rate = 1e-3;
  bench.update_ms = 1e3 * median_seconds(repeat, [&] {
                      kernels::update_parameter(options, 1, gradients.data_ptr<float>(), bench.parameters,
                                                parameters.data(), first.data(), second.data(), {1});
                    });
  return bench;
}

}  // namespace graphpae::bench
