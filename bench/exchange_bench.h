// What processes that train together tell each other: how long it takes.
#pragma once

#include "graphpae/distributed/processes.h"

namespace graphpae::bench {

struct ExchangeBench {
  double small_us = 0;           // a sum of 601 numbers: statistics of a layer 300 wide
  double gradient_ms = 0;        // a sum of the gradients below
  int64_t parameters = 2523600;  // of recipe zinc
  double update_ms = 0;          // Adam's update of as many, one thread
};

// Called by all processes.
ExchangeBench run_exchange_bench(Processes& processes, int repeat);

}  // namespace graphpae::bench
