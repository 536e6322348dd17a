// What the verbs of run/ are given by the program: flags of all verbs, messages, progress bars and Ctrl-C.
#pragma once

#include "graphpae/cli/command.h"
#include "graphpae/run/context.h"

namespace graphpae::cli {

// Notes are messages "note: LINE". Progress is a bar, a new one for another unit or total; a message, the last step and
// an empty report end it. From the first time a verb asks whether to stop until it reports its last step, the first
// Ctrl-C only asks it to (cli/interrupt.h); at other times it ends the program at once. Refers to `common`.
run::Watch watch_of(const Common& common);

// Threads, command line, $GRAPHPAE_CACHE and watch_of(common); fused kernels.
run::Context context_of(const Common& common);

}  // namespace graphpae::cli
