// Memory of the machine and of this process, in bytes.
#pragma once

#include <cstdint>

namespace graphpae {

int64_t available_memory();  // what can be used without swapping
int64_t resident_memory();   // of this process now
int64_t peak_memory();       // largest resident memory of this process so far, or since restart_peak_memory()
void restart_peak_memory();

// Tells the C library to keep freed memory for later instead of giving it back to the system and fetching it again,
// page by page: a training loop frees and allocates the same large arrays in every step. For programs; it cannot be
// undone.
void keep_freed_memory();

}  // namespace graphpae
