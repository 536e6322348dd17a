// How OpenMP threads wait for each other.
#pragma once

namespace graphpae::cli {

// libgomp lets waiting threads spin, which costs up to a hundred times the work itself when other programs use
// the same processors. It reads its policy when it is loaded, so the program starts itself again with the policy
// set; a policy chosen by the user stays.
void wait_without_spinning(char** argv);

}  // namespace graphpae::cli
