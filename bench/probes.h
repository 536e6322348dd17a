// What this machine can do: the yardsticks beside which kernels are shown.
#pragma once

#include "graphpae/core/threads.h"

namespace graphpae::bench {

struct Probes {
  double fma_gflops = 0;       // multiply-adds in registers, all threads
  double product_gflops = 0;   // LibTorch's matrix product, 1024 x 1024 x 1024
  double l2_gb_per_s = 0;      // reading 256 KB per thread again and again
  double stream_gb_per_s = 0;  // reading and writing arrays larger than any cache
};
Probes run_probes(Threads threads);

}  // namespace graphpae::bench
