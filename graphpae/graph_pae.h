// Public. The old name of graphpae/graphpae.h; it goes with the next version.
#pragma once

#include "graphpae/graphpae.h"
