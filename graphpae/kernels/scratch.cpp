#include "graphpae/kernels/scratch.h"

#include <sys/mman.h>

#include <new>

namespace graphpae::kernels {

void* allocate_scratch(size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t unit = bytes >= kHugePage / 2 ? kHugePage : 64;
  const size_t size = (bytes + unit - 1) / unit * unit;
  void* memory = std::aligned_alloc(unit, size);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (unit == kHugePage) madvise(memory, size, MADV_HUGEPAGE);  // refused: small pages, which work as well
#endif
  return memory;
}

}  // namespace graphpae::kernels
