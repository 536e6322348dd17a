// The header of a NumPy array, a Python dictionary such as
//   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graphpae/core/error.h"

namespace graphpae {

struct NpyHeader {
  std::string type;       // as it is written
  char kind = 'f';        // b bool, i integer, u unsigned, f float, S bytes, U text
  int64_t item_size = 0;  // bytes of one value
  bool swapped = false;   // bytes are in the other order than those of this machine
  bool fortran = false;
  std::vector<int64_t> shape;
};

// Throws a data error that names the array if the header is damaged or its values are neither numbers nor text.
NpyHeader parse_npy_header(const std::string& name, std::string_view text);

Error bad_npy(const std::string& name, const std::string& reason);

}  // namespace graphpae
