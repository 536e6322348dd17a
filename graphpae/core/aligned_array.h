// AlignedArray<T>: a fixed number of values of a simple type, aligned to 64 bytes and not initialised.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

namespace graphpae {

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
