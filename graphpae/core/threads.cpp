#include "graphpae/core/threads.h"

#include <sched.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace graphpae {

Threads all_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return Threads{1};
  return Threads{CPU_COUNT(&allowed)};
}

void flush_denormals() {
#if defined(__SSE__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#endif
}

}  // namespace graphpae
