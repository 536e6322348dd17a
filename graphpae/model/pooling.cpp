#include <torch/torch.h>

#include <limits>

#include "graphpae/model/modules.h"

namespace graphpae {
namespace {

// The row that holds the maximum of each column within each molecule, the first one of equals; 0 if it has no rows.
// [N,d] -> [G,d] int64
template <class T>
torch::Tensor rows_of_maxima(const torch::Tensor& nodes, std::span<const int64_t> offsets) {
  const torch::Tensor values = nodes.detach().contiguous();
  const int64_t graphs = static_cast<int64_t>(offsets.size()) - 1, d = values.size(1);
  const torch::Tensor rows = torch::zeros({graphs, d}, torch::kInt64);
  const T* x = values.data_ptr<T>();
  int64_t* row = rows.data_ptr<int64_t>();
  for (int64_t g = 0; g < graphs; ++g, row += d) {
    if (offsets[g] == offsets[g + 1]) continue;
    std::fill(row, row + d, offsets[g]);
    for (int64_t i = offsets[g] + 1; i < offsets[g + 1]; ++i) {
      for (int64_t c = 0; c < d; ++c) {
        if (x[i * d + c] > x[row[c] * d + c]) row[c] = i;
      }
    }
  }
  return rows;
}

}  // namespace

torch::Tensor pool(const torch::Tensor& nodes, std::span<const int64_t> offsets, Pooling pooling) {
  const int64_t graphs = static_cast<int64_t>(offsets.size()) - 1;
  const torch::Tensor sizes =
      torch::from_blob(const_cast<int64_t*>(offsets.data()), {graphs + 1}, torch::kInt64).diff();  // [G]
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (nodes.size(0) == 0) return torch::full({graphs, nodes.size(1)}, kNan, nodes.options());
  torch::Tensor rows;
  if (pooling == Pooling::max) {
    rows = nodes.gather(0, nodes.scalar_type() == torch::kFloat64 ? rows_of_maxima<double>(nodes, offsets)
                                                                  : rows_of_maxima<float>(nodes, offsets));
  } else {
    rows = torch::zeros({graphs, nodes.size(1)}, nodes.options()).index_add(0, torch::repeat_interleave(sizes), nodes);
    if (pooling == Pooling::mean) rows = rows / sizes.to(nodes.scalar_type()).unsqueeze(1);
  }
  const torch::Tensor empty = sizes == 0;
  return empty.any().item<bool>() ? rows.masked_fill(empty.unsqueeze(1), kNan) : rows;
}

}  // namespace graphpae
