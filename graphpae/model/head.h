// The head of a fine-tuned model: from rows of molecules or nodes to targets.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "graphpae/core/threads.h"
#include "graphpae/model/modules.h"
#include "graphpae/settings/finetune_settings.h"

namespace graphpae {

// linear: output(x). mlp: output(relu(hidden(x))), as wide inside as the rows.
class HeadImpl : public torch::nn::Module {
 public:
  HeadImpl(HeadKind kind, int64_t in, int64_t out, Initialiser& init);
  // [R,in] -> [R,out]. `fused`: the same bits for any number of threads; float32.
  torch::Tensor forward(const torch::Tensor& rows, bool fused, Threads threads);

  Linear hidden{nullptr}, output{nullptr};  // hidden is empty for linear
};
TORCH_MODULE(Head);

}  // namespace graphpae
