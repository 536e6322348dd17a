#include "graphpae/blocks/smoothed_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "graphpae/blocks/randomised_svd.h"

namespace graphpae {
namespace {

constexpr float kReturn = 0.1f;  // a
constexpr int64_t kNarrowEnough = 1024;

// X with rows of length one, dense.
Buffer<float> unit_values(const Features& features) {
  const int64_t n = features.rows(), d = features.columns();
  Buffer<float> x(static_cast<size_t>(n * d));
  for (int64_t i = 0; i < n; ++i) {
    float* row = x.data() + i * d;
    features.copy_row(i, row);
    double square = 0;
    for (int64_t c = 0; c < d; ++c) square += static_cast<double>(row[c]) * row[c];
    const double factor = square > 0 ? 1 / std::sqrt(square) : 0;
    for (int64_t c = 0; c < d; ++c) row[c] = static_cast<float>(row[c] * factor);
  }
  return x;
}

}  // namespace

Block smoothed_features(const Graph& graph, const BlockOptions& options, int64_t steps) {
  const int64_t n = graph.num_nodes();
  const Features& features = graph.features();
  const bool reduced = features.columns() > kNarrowEnough && n * features.columns() > options.wide_values;
  const Features narrow = reduced ? leading_columns(features, options.rank, options.seed, options.threads) : Features();
  const Features& used = reduced ? narrow : features;
  const int64_t d = used.columns();
  const Buffer<float> x = unit_values(used);
  const Adjacency& adjacency = graph.adjacency();
  std::vector<float> root(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) root[i] = static_cast<float>(1 / std::sqrt(1.0 + adjacency.degree(i)));
  Buffer<float> now = x, next(x.size());
  const int64_t groups = (n + 255) / 256;
  for (int64_t step = 0; step < steps; ++step) {
    parallel_tasks(options.threads, groups, [&](int64_t group) {
      for (int64_t i = group * 256; i < std::min(n, (group + 1) * 256); ++i) {
        float* to = next.data() + i * d;
        const float own = (1 - kReturn) * root[i] * root[i];
        for (int64_t c = 0; c < d; ++c) to[c] = kReturn * x[i * d + c] + own * now[i * d + c];
        for (const int32_t j : adjacency.row(i)) {
          const float share = (1 - kReturn) * root[i] * root[j];
          const float* from = now.data() + j * d;
          for (int64_t c = 0; c < d; ++c) to[c] += share * from[c];
        }
      }
    });
    std::swap(now, next);
  }
  Block block;
  block.name = "smoothed";
  block.about = fmt::format("features smoothed over the graph by personalised PageRank, {} steps", steps);
  block.rows = std::make_shared<const Features>(Features::dense(n, d, std::move(now)));
  block.reduced_from = reduced ? features.columns() : 0;
  block.rotated = reduced;
  return block;
}

}  // namespace graphpae
