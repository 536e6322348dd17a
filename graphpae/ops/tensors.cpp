#include "graphpae/ops/tensors.h"

#include <torch/torch.h>

#include <algorithm>
#include <limits>

namespace graphpae {
namespace {

template <class T>
torch::Tensor view(std::span<const T> values, at::ScalarType type) {
  return torch::from_blob(const_cast<T*>(values.data()), {static_cast<int64_t>(values.size())}, type);
}

// LibTorch's own operation for this is unfinished in 1.13 and says so on every use.
torch::Tensor segment_max(const torch::Tensor& values, const torch::Tensor& targets, int64_t num_nodes) {
  const torch::Tensor largest = torch::full({num_nodes, values.size(1)}, -std::numeric_limits<double>::infinity(),
                                            values.options().requires_grad(false));
  const int64_t* rows = targets.data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "segment_max", [&] {
    const torch::Tensor in = values.contiguous();
    const scalar_t* value = in.data_ptr<scalar_t>();
    for (int64_t e = 0; e < in.size(0); ++e) {
      scalar_t* row = largest.data_ptr<scalar_t>() + rows[e] * in.size(1);
      for (int64_t h = 0; h < in.size(1); ++h) row[h] = std::max(row[h], *value++);
    }
  });
  return largest;
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

torch::Tensor segment_softmax(const torch::Tensor& values, const torch::Tensor& targets, int64_t num_nodes) {
  // The maximum only guards against overflow: the result, and so its gradient, does not depend on it.
  const torch::Tensor largest = segment_max(values.detach(), targets, num_nodes);
  const torch::Tensor weights = torch::exp(values - largest.index_select(0, targets));
  const torch::Tensor sums =
      torch::zeros({num_nodes, values.size(1)}, weights.options()).index_add(0, targets, weights);
  return weights / sums.index_select(0, targets);
}

void use_threads_in_torch(Threads threads) { torch::set_num_threads(threads.count); }

}  // namespace graphpae
