// What benchmarks of training work in: a directory of their own, LibTorch told how a training program uses it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/ops/tensor_memory.h"
#include "graphpae/ops/tensors.h"

namespace graphpae::bench {

// A directory that goes away at the end.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "graphpae-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw data_error("no temporary directory can be made");
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// As `pretrain` begins.
inline void begin_training(Threads threads) {
  use_threads_in_torch(threads);
  keep_freed_memory();
  keep_tensor_memory();
}

}  // namespace graphpae::bench
