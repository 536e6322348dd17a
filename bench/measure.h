// Small tools of the benchmarks: medians of repeated runs, peak memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace graphpae::bench {

// Median seconds of `runs` calls.
template <class Body>
double median_seconds(int runs, const Body& body) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  return seconds[runs / 2];
}

// Peak resident bytes of this process since it was started.
inline int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  return kilobytes * 1024;
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
