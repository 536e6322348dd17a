#include "graphpae/core/memory.h"

#include <malloc.h>

#include <fstream>
#include <limits>
#include <string>

namespace graphpae {
namespace {

// The value of a line like "MemAvailable:  123 kB", or -1.
int64_t kilobytes_after(const char* path, const std::string& word) {
  std::ifstream file(path);
  std::string found;
  int64_t value = -1;
  while (file >> found) {
    if (found == word && file >> value) return value;
  }
  return -1;
}

}  // namespace

int64_t available_memory() {
  const int64_t kilobytes = kilobytes_after("/proc/meminfo", "MemAvailable:");
  return kilobytes < 0 ? std::numeric_limits<int64_t>::max() : kilobytes * 1024;
}

int64_t resident_memory() { return kilobytes_after("/proc/self/status", "VmRSS:") * 1024; }

void restart_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

int64_t peak_memory() { return kilobytes_after("/proc/self/status", "VmHWM:") * 1024; }

void keep_freed_memory() {
#if defined(__GLIBC__)
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, 16 << 20);
  ::mallopt(M_ARENA_MAX, 1);
#endif
}

}  // namespace graphpae
