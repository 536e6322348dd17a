#include "graphpae/model/graph_input.h"

#include <torch/torch.h>

#include <cmath>
#include <map>
#include <numeric>

#include "graphpae/ops/tensors.h"
#include "graphpae/positions/relative_distances.h"

namespace graphpae {

MessageGraph::MessageGraph(EdgeIndex edges)
    : index(std::make_shared<const EdgeIndex>(std::move(edges))),
      sources(int64_tensor(index->sources())),
      targets(int64_tensor(index->targets())) {}

void MessageGraph::set_weights(std::vector<float> of_edges) {
  log_weights = torch::tensor(of_edges, torch::kFloat32).log();
  weights = std::make_shared<const std::vector<float>>(std::move(of_edges));
}

const torch::Tensor& NodeFeatures::dense() const {
  if (dense_.defined()) return dense_;
  const Features& x = *matrix_;
  dense_ = torch::empty({x.rows(), x.columns()}, torch::kFloat32);
  float* values = dense_.data_ptr<float>();
  for (int64_t i = 0; i < x.rows(); ++i) x.copy_row(i, values + i * x.columns());
  return dense_;
}

torch::Tensor CodedRows::dense() const { return kinds.index_select(0, int64_tensor(kind_of)); }

CodedRows coded_rows(const torch::Tensor& codes) {
  const torch::Tensor rows = codes.to(torch::kInt64).contiguous();
  const int64_t width = rows.size(1);
  const int64_t* values = rows.data_ptr<int64_t>();
  std::map<std::vector<int64_t>, int32_t> numbers;
  CodedRows coded;
  std::vector<int64_t> first;  // a row of each kind
  for (int64_t r = 0; r < rows.size(0); ++r) {
    const auto [place, is_new] = numbers.try_emplace(std::vector<int64_t>(values + r * width, values + (r + 1) * width),
                                                     static_cast<int32_t>(first.size()));
    if (is_new) first.push_back(r);
    coded.kind_of.push_back(place->second);
  }
  coded.kinds = rows.index_select(0, torch::tensor(first, torch::kInt64));
  return coded;
}

torch::Tensor GraphInput::node_scale(torch::Dtype type) const {
  const torch::Tensor scale = torch::empty({num_nodes(), 1}, torch::kFloat64);
  double* values = scale.data_ptr<double>();
  for (size_t g = 0; g + 1 < graph_offsets.size(); ++g) {
    const double size = static_cast<double>(graph_offsets[g + 1] - graph_offsets[g]);
    std::fill(values + graph_offsets[g], values + graph_offsets[g + 1], 1 / std::sqrt(size));
  }
  return scale.to(type);
}

std::vector<int32_t> row_range(int64_t first, int64_t count) {
  std::vector<int32_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), static_cast<int32_t>(first));
  return rows;
}

Masking mask_nodes(int64_t num_nodes, std::vector<int32_t> masked) {
  Masking masking;
  masking.shown = row_range(0, num_nodes);
  for (const int32_t node : masked) masking.shown[node] = kMaskToken;
  masking.masked_indices = torch::tensor(masked, torch::kInt64);
  masking.masked = std::move(masked);
  return masking;
}

void widen(Masking& masking, int64_t num_nodes) {
  for (int64_t i = static_cast<int64_t>(masking.shown.size()); i < num_nodes; ++i)
    masking.shown.push_back(static_cast<int32_t>(i));
}

torch::Tensor first_rows(const torch::Tensor& x, int64_t count) {
  return x.size(0) == count ? x : x.narrow(0, 0, count);
}

torch::Tensor edge_distances(const MessageGraph& graph, const torch::Tensor& positions, torch::Dtype type,
                             Threads threads) {
  const EdgeIndex& edges = *graph.index;
  if (type != torch::kFloat32) {
    const torch::Tensor difference =
        positions.index_select(0, graph.sources) - positions.index_select(0, graph.targets);
    return difference.square().sum(1).sqrt().to(type);
  }
  const torch::Tensor table = positions.contiguous();
  const PositionTable rows{{table.data_ptr<double>(), static_cast<size_t>(table.numel())}, table.size(1)};
  const std::vector<float> distances = relative_distances(rows, {edges.sources(), edges.targets()}, threads);
  return torch::tensor(distances, torch::kFloat32);
}

}  // namespace graphpae
