// Small tools of the benchmarks: medians of repeated runs, output of commands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/stopwatch.h"

namespace graphpae::bench {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Median seconds of `runs` calls.
template <class Body>
double median_seconds(int runs, const Body& body) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    const Stopwatch watch;
    body();
    seconds.push_back(watch.seconds());
  }
  return median(std::move(seconds));
}

// The shortest of `runs` calls: what the machine can do when it is left alone.
template <class Body>
double best_seconds(int runs, const Body& body) {
  double best = median_seconds(1, body);
  for (int i = 1; i < runs; ++i) best = std::min(best, median_seconds(1, body));
  return best;
}

// What a command prints, as a number.
inline int64_t output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  long long number = -1;
  if (pipe == nullptr || std::fscanf(pipe, "%lld", &number) != 1) number = -1;
  if (pipe != nullptr) ::pclose(pipe);
  return number;
}

}  // namespace graphpae::bench
