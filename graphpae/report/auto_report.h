// The page of a run of the verb auto: what was chosen and why, beside each block alone.
#pragma once

#include <string>

#include "graphpae/report/run_report.h"

namespace graphpae {

// Whether the run is one of auto.
bool is_auto_run(const RunRecord& run);

// Finished or not.
std::string auto_report(const RunRecord& run);

}  // namespace graphpae
