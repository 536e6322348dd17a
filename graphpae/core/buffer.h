// Buffer<T>: a std::vector whose new elements are left uninitialised, for arrays that are written
// right after they are sized. Saves one pass over memory and lets each thread touch its own pages.
#pragma once

#include <memory>
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

}  // namespace graphpae
