// The memory of large tensors, kept when they are freed and used again.
//
// A training step frees and allocates the same large arrays again and again. The system would clear every page each
// time; the heap of the C library would keep them, but cut them up until nothing fits.
#pragma once

#include <cstdint>

namespace graphpae {

// From now on tensors of a megabyte and more live in blocks of their own, of whole huge pages. A freed block serves the
// next tensor that nearly fills it; else the pages of freed blocks are put together under new addresses, which costs
// neither copying nor clearing. So blocks take hardly more memory than tensors ever did at one moment. For programs; it
// cannot be undone.
void keep_tensor_memory();

// Bytes of freed blocks that wait for new tensors; 0 if none are kept.
int64_t kept_tensor_memory();

}  // namespace graphpae
