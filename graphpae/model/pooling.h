// Pooling: from the atoms of molecules to one row per molecule.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "graphpae/settings/settings.h"

namespace graphpae {

// Row g is the mean, sum or maximum of rows offsets[g] .. offsets[g+1] of `nodes`; NaN if there are none.
// nodes [N,d], offsets [G+1] -> [G,d], with a gradient.
torch::Tensor pool(const torch::Tensor& nodes, std::span<const int64_t> offsets, Pooling pooling);

}  // namespace graphpae
