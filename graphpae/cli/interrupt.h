// Ctrl-C and SIGTERM: unfinished outputs are removed and the program ends with code 130.
#pragma once

namespace graphpae::cli {

// Call first in main, before any thread exists: all threads then leave the signals to one that waits for them.
void handle_interrupts();

}  // namespace graphpae::cli
