// What every fuzz target needs: the input as a file, and the promise under test: a valid value or an Error.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "graphpae/core/error.h"

namespace graphpae::fuzz {

// A directory of this process in memory-backed storage where there is one.
inline const std::string& scratch() {
  static const std::string path = [] {
    std::string pattern =
        (std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp") + std::string("/graphpae-fuzz-XXXXXX");
    pattern = ::mkdtemp(pattern.data());
    static const std::string kept = pattern;
    std::atexit([] { std::filesystem::remove_all(kept); });
    return pattern;
  }();
  return path;
}

inline std::string as_file(const std::string& name, std::string_view bytes) {
  const std::string path = scratch() + "/" + name;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// Input of the form "=== name\ncontent=== name\ncontent" as a fresh directory.
inline std::string as_directory(std::string_view bytes) {
  const std::string directory = scratch() + "/dir";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  constexpr std::string_view kMark = "=== ";
  size_t at = bytes.find(kMark);
  while (at != std::string_view::npos) {
    const size_t name_end = bytes.find('\n', at);
    if (name_end == std::string_view::npos) break;
    const size_t next = bytes.find(kMark, name_end);
    const std::filesystem::path name(std::string(bytes.substr(at + kMark.size(), name_end - at - kMark.size())));
    const bool safe = !name.empty() && name.is_relative() && name.string().size() < 100 &&
                      name.string().find("..") == std::string::npos && name.string().find('\0') == std::string::npos &&
                      name.has_filename();
    std::error_code ignored;
    std::filesystem::create_directories((directory / name).parent_path(), ignored);
    if (safe)
      std::ofstream(directory / name, std::ios::binary)
          << bytes.substr(name_end + 1, next == std::string_view::npos ? next : next - name_end - 1);
    at = next;
  }
  return directory;
}

template <class Read>
int value_or_error(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace graphpae::fuzz

#define GRAPHPAE_FUZZ_TARGET(bytes)                                         \
  static int fuzz_one(std::string_view bytes);                              \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    return fuzz_one({reinterpret_cast<const char*>(data), size});           \
  }                                                                         \
  static int fuzz_one(std::string_view bytes)
