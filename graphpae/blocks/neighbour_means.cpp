#include "graphpae/blocks/neighbour_means.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/blocks/randomised_svd.h"
#include "graphpae/core/error.h"

namespace graphpae {
namespace {

constexpr int64_t kWideColumns = 1024, kLeastRank = 16;

// Shares of the neighbours of each node: sizes of weights, or all alike.
class Shares {
 public:
  explicit Shares(const Adjacency& graph) : graph_(graph), totals_(static_cast<size_t>(graph.num_nodes())) {
    for (int64_t i = 0; i < graph.num_nodes(); ++i) {
      totals_[i] = static_cast<double>(graph.degree(i));
      if (!graph.has_weights()) continue;
      totals_[i] = 0;
      for (const float weight : graph.row_weights(i)) totals_[i] += std::abs(weight);
    }
  }
  // Of the neighbour at place `k` of the row of node i; 0 if all weights are 0.
  double of(int64_t i, size_t k) const {
    if (totals_[i] == 0) return 0;
    return (graph_.has_weights() ? std::abs(graph_.row_weights(i)[k]) : 1.0) / totals_[i];
  }
  double of_weight(int64_t i, double weight) const { return totals_[i] == 0 ? 0 : std::abs(weight) / totals_[i]; }
  // How often two steps from node i lead back to it.
  double back(int64_t i) const {
    double chance = 0;
    const auto row = graph_.row(i);
    for (size_t k = 0; k < row.size(); ++k)
      chance += of(i, k) * of_weight(row[k], graph_.has_weights() ? graph_.row_weights(i)[k] : 1);
    return chance;
  }

 private:
  const Adjacency& graph_;
  std::vector<double> totals_;
};

void add_row(const Features& x, int64_t row, float factor, float* to) {
  if (x.is_sparse()) {
    const SparseRow entries = x.sparse_row(row);
    for (size_t k = 0; k < entries.columns.size(); ++k) to[entries.columns[k]] += factor * entries.values[k];
    return;
  }
  const float* values = x.dense_row(row).data();
  for (int64_t d = 0; d < x.columns(); ++d) to[d] += factor * values[d];
}

// [N, hops * F]
Features means(const Adjacency& graph, const Features& x, int64_t hops, Threads threads) {
  const int64_t n = graph.num_nodes(), f = x.columns(), width = hops * f;
  const Shares shares(graph);
  Buffer<float> values(static_cast<size_t>(n * width));
  constexpr int64_t kRows = 64;
  const auto for_rows = [&](const auto& body) {
    parallel_tasks(threads, (n + kRows - 1) / kRows, [&](int64_t task) {
      flush_denormals();
      for (int64_t i = task * kRows; i < std::min(n, (task + 1) * kRows); ++i) body(i);
    });
  };
  for_rows([&](int64_t i) {
    std::fill_n(values.data() + i * width, width, 0.0f);
    const auto row = graph.row(i);
    for (size_t k = 0; k < row.size(); ++k)
      add_row(x, row[k], static_cast<float>(shares.of(i, k)), values.data() + i * width);
  });
  for (int64_t hop = 1; hop < hops; ++hop) {
    for_rows([&](int64_t i) {
      float* to = values.data() + i * width + hop * f;
      const auto row = graph.row(i);
      for (size_t k = 0; k < row.size(); ++k) {
        const auto share = static_cast<float>(shares.of(i, k));
        const float* from = values.data() + row[k] * width + (hop - 1) * f;
        for (int64_t d = 0; d < f; ++d) to[d] += share * from[d];
      }
      if (hop > 1) return;
      // Two steps that end where they began are taken out.
      const double back = shares.back(i), left = 1 - back;
      if (left < 1e-6) return void(std::fill_n(to, f, 0.0f));
      add_row(x, i, static_cast<float>(-back), to);
      for (int64_t d = 0; d < f; ++d) to[d] = to[d] / static_cast<float>(left);
    });
  }
  return x.is_sparse() ? Features::compact(n, width, std::move(values)) : Features::dense(n, width, std::move(values));
}

}  // namespace

Block neighbour_block(const Graph& graph, const BlockOptions& options) {
  if (options.hops < 1) throw usage_error(fmt::format("block neighbours: {} hops, expected at least 1", options.hops));
  const Features& x = graph.features();
  const int64_t n = graph.num_nodes(), f = x.columns(), values = n * f * options.hops;
  Block block{"neighbours", fmt::format("means over neighbours at 1 to {} steps, without the node", options.hops), {}};
  if (options.hops == 1) block.about = "means over neighbours, without the node";
  if ((f > kWideColumns && values > options.wide_values) || values > options.most_values) {
    const int64_t rank =
        std::clamp(options.most_values / (n * options.hops), std::min(kLeastRank, f), std::min(options.rank, f));
    block.rows = std::make_shared<const Features>(means(
        graph.adjacency(), leading_columns(x, rank, options.seed, options.threads), options.hops, options.threads));
    block.reduced_from = f * options.hops;
    block.rotated = true;
    block.about += fmt::format("; of {} leading directions of {} features", rank, f);
    return block;
  }
  block.rows = std::make_shared<const Features>(means(graph.adjacency(), x, options.hops, options.threads));
  return block;
}

}  // namespace graphpae
