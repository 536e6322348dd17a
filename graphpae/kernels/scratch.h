// Scratch: memory that kernels keep between calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace graphpae::kernels {

// Memory for scratch, aligned to 64 bytes at least; large arrays are aligned to huge pages and ask for them, since
// gathers are slow where every row needs its own entry in the address cache.
void* allocate_scratch(size_t bytes);

// An array for scratch that grows when it has to and is never initialised.
template <class T>
class Scratch {
 public:
  // At least `count` values; what was there is lost if the array grows.
  T* reserve(int64_t count) {
    if (count > capacity_) {
      data_.reset();
      capacity_ = 0;
      data_.reset(static_cast<T*>(allocate_scratch(static_cast<size_t>(count) * sizeof(T))));
      capacity_ = count;
    }
    return data_.get();
  }

 private:
  struct Release {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Release> data_;
  int64_t capacity_ = 0;
};

}  // namespace graphpae::kernels
