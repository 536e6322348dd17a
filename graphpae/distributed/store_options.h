// What versions of LibTorch say differently about the store of processes that train together.
#pragma once

namespace graphpae {

// From 2.4 on LibTorch's store uses libuv unless told otherwise, and Debian builds LibTorch without it.
template <class Options>
void use_plain_sockets(Options& options) {
  if constexpr (requires { options.useLibUV; }) options.useLibUV = false;
}

}  // namespace graphpae
