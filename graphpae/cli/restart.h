// The start of the program: in an environment that suits its libraries, and as the program that has the verb.
#pragma once

#include <string>

namespace graphpae::cli {

// Idle threads of libgomp spin for milliseconds, which makes small parallel regions up to a hundred times slower on a
// busy machine; threads that sleep at once make them slower on an idle one. The choice is read from the environment
// when the library is loaded, so the program starts itself once more with a GOMP_SPINCOUNT in between unless the user
// has chosen. If `other` is not empty, the program of that name beside this one (or in ../lib/graphpae) is started
// instead; if it is not there, this one goes on.
void restart_with_short_spins(char** argv, const std::string& other);

}  // namespace graphpae::cli
