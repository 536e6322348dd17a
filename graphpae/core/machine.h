// With what, where and when something was measured.
#pragma once

#include <string>

namespace graphpae {

// The commit this program was built from, with "-changed" if its sources were not as committed; or "unknown".
std::string build_commit();
std::string processor_name();  // "unknown" if the system does not say
double load_average();         // of the last minute; 0 if the system does not say
std::string time_stamp();      // now, as 2025-01-31T23:59:59Z

}  // namespace graphpae
