// Threads: how many threads a call may use. It is passed to every parallel function, never global.
//
// Work is divided into ranges whose results do not depend on the number of threads, so that any
// thread count gives the same bits.
#pragma once

#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace graphpae {

struct Threads {
  int count = 1;
};

// All processors this process may run on.
Threads all_threads();

// Sets flush-to-zero and denormals-are-zero for the calling thread. Each parallel region of a kernel
// calls it once per thread: denormal numbers cost up to four times the time of normal ones.
void flush_denormals();

// The half-open part `index` of `parts` equal parts of [0, n).
inline std::pair<int64_t, int64_t> part_of(int64_t n, int64_t index, int64_t parts) {
  return {n * index / parts, n * (index + 1) / parts};
}

// Runs body(task) for every task in [0, tasks), each on one thread. The first exception in task order
// is thrown again in the caller after all tasks have ended.
template <class Body>
void parallel_tasks(Threads threads, int64_t tasks, const Body& body) {
  std::vector<std::exception_ptr> failures(static_cast<size_t>(tasks));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count)
  for (int64_t task = 0; task < tasks; ++task) {
    try {
      body(task);
    } catch (...) {
      failures[static_cast<size_t>(task)] = std::current_exception();
    }
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace graphpae
