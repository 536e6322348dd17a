// Which implementation of the model's operations runs.
#pragma once

namespace graphpae {

enum class Kernels {
  reference,  // plain LibTorch operations that follow the paper's equations, in any precision
  fused,      // our own operations, float32; what has no fused form runs as in `reference`
};

}  // namespace graphpae
