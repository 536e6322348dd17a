// A port of this machine for processes that talk to each other.
#pragma once

namespace graphpae {

// One that nobody listens to now. Throws an internal error if there is none.
int free_port();

}  // namespace graphpae
