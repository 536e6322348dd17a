#include "graphpae/ops/tensors.h"

#include <torch/torch.h>

namespace graphpae {
namespace {

template <class T>
torch::Tensor view(std::span<const T> values, at::ScalarType type) {
  return torch::from_blob(const_cast<T*>(values.data()), {static_cast<int64_t>(values.size())}, type);
}

}  // namespace

torch::Tensor features_tensor(const Features& features) {
  if (!features.is_sparse())
    return view(features.dense_values(), torch::kFloat32).view({features.rows(), features.columns()});
  // torch wants offsets and columns of one width.
  return torch::sparse_csr_tensor(view(features.offsets(), torch::kInt64), int64_tensor(features.indices()),
                                  view(features.values(), torch::kFloat32), {features.rows(), features.columns()},
                                  torch::kFloat32);
}

torch::Tensor int64_tensor(std::span<const int32_t> values) { return view(values, torch::kInt32).to(torch::kInt64); }

void use_threads_in_torch(Threads threads) { torch::set_num_threads(threads.count); }

}  // namespace graphpae
