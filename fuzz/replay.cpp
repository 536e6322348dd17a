// Runs a fuzz target without libFuzzer: every file of the corpus directories given, and `--mutations N`
// deterministic variations of each (cut, flipped, repeated, spliced bytes).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "graphpae/core/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

std::string mutate(std::string bytes, const graphpae::Rng& rng) {
  const uint64_t changes = 1 + rng.below(0, 4);
  for (uint64_t c = 0; c < changes && !bytes.empty(); ++c) {
    const uint64_t draw = 1 + c * 8;
    const size_t at = rng.below(draw, bytes.size());
    switch (rng.below(draw + 1, 5)) {
      case 0: bytes[at] = static_cast<char>(rng.below(draw + 2, 256)); break;
      case 1: bytes[at] ^= static_cast<char>(1 << rng.below(draw + 2, 8)); break;
      case 2: bytes.resize(at); break;
      case 3: bytes.insert(at, bytes.substr(rng.below(draw + 2, bytes.size()), rng.below(draw + 3, 64))); break;
      default: bytes.erase(at, 1 + rng.below(draw + 2, 16)); break;
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t mutations = 0;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--mutations") == 0 && i + 1 < argc) {
      mutations = std::strtoull(argv[++i], nullptr, 10);
    } else {
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "no corpus files\n");
    return 1;
  }
  run("");
  for (size_t f = 0; f < files.size(); ++f) {
    std::ifstream file(files[f], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    run(bytes);
    for (uint64_t m = 0; m < mutations; ++m) run(mutate(bytes, graphpae::Rng(f, m)));
  }
  std::printf("%zu files, %zu runs\n", files.size(), 1 + files.size() * (1 + mutations));
}
