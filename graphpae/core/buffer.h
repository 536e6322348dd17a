// Buffer<T>: a std::vector whose new elements are left uninitialised, for arrays that are written
// right after they are sized. Saves one pass over memory and lets each thread touch its own pages.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace graphpae {

template <class T>
struct UninitialisedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UninitialisedAllocator<U>;
  };
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
};

template <class T>
using Buffer = std::vector<T, UninitialisedAllocator<T>>;

// A fixed number of values of a simple type, aligned to 64 bytes and not initialised.
template <class T>
class AlignedArray {
 public:
  explicit AlignedArray(int64_t size)
      : data_(static_cast<T*>(::operator new[](static_cast<size_t>(size) * sizeof(T), std::align_val_t{64}))),
        size_(size) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  T& operator[](int64_t i) { return data_.get()[i]; }
  T operator[](int64_t i) const { return data_.get()[i]; }

 private:
  struct Release {
    void operator()(T* data) const { ::operator delete[](data, std::align_val_t{64}); }
  };
  std::unique_ptr<T, Release> data_;
  int64_t size_;
};

}  // namespace graphpae
