#include "graphpae/train/estimate.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/tensors.h"
#include "graphpae/model/graph_pae.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/train/inputs.h"

namespace graphpae {
namespace {

struct Rates {
  double flops, bytes;  // per second
};

// A matrix product and a copy, a tenth of a second each.
Rates probe(Threads threads) {
  using Clock = std::chrono::steady_clock;
  use_threads_in_torch(threads);
  const torch::NoGradGuard no_grad;
  const auto rate = [](double work, const auto& run) {
    run();
    const auto start = Clock::now();
    int count = 0;
    double seconds = 0;
    for (; seconds < 0.1; ++count) {
      run();
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return work * count / seconds;
  };
  constexpr int64_t n = 768;
  const torch::Tensor a = torch::ones({n, n}), b = torch::ones({n, n}), c = torch::empty({n, n});
  const double flops = rate(2.0 * n * n * n, [&] { torch::mm_out(const_cast<torch::Tensor&>(c), a, b); });
  const torch::Tensor from = torch::ones({8 << 20}), to = torch::empty({8 << 20});
  const double bytes = rate(2.0 * 4 * (8 << 20), [&] { const_cast<torch::Tensor&>(to).copy_(from); });
  return {flops, bytes};
}

}  // namespace

Estimate estimate(const Graph& graph, const Settings& s, Kernels kernels, Threads threads) {
  const double n = static_cast<double>(graph.num_nodes()), f = static_cast<double>(graph.features().columns());
  const double nonzeros = static_cast<double>(graph.features().nonzeros());
  const double edges = static_cast<double>(graph.adjacency().neighbours().size()) + n;
  const double d = static_cast<double>(s.width), layers = static_cast<double>(s.layers),
               h = static_cast<double>(s.heads);
  const double g = static_cast<double>(s.gaussians), masked = s.mask_ratio * n;
  const double passes = s.dual_path && s.use_positions && s.reconstruct_positions ? 2 : 1;
  const bool fused = kernels == Kernels::fused;

  Estimate e;
  const double encoder =
      f * d + (layers - 1) * d * d + layers * 3 * d + f + (s.use_positions ? g * (g + h + 3) + h : 0);
  const double feature_parameters = s.reconstruct_features ? d * d + d * f + 3 * d + f : 0;
  const double position_decoder = s.use_positions && s.reconstruct_positions ? 128 * (h + 4) + 1 : 0;
  e.parameters = static_cast<int64_t>(encoder + feature_parameters + position_decoder);

  // A product costs two operations per multiplication forward and twice that backward. Fused operations leave most of
  // the work of the first layer and of the distances undone, and the last layer's at nodes that are not masked where
  // that pays (ops/attention_ops.h).
  const bool drops = s.dropout > 0;
  const double input_product =
      fused ? 3 * nonzeros * d + (drops && s.corrupt_features ? masked * f * d / 4 / passes : 0) : n * f * d;
  const bool at_masked = 20 * s.mask_ratio * edges * (1 + h) < 3 * (n - masked) * d + 24 * edges;
  double deep_rows = (passes * (layers - 1)) * n;
  if (fused && layers > 1) deep_rows -= (passes > 1 ? n : 0) + (at_masked ? n - masked : 0);
  const double last_product = std::min(3 * masked * d * f, fused ? 2 * d * d * f + 2 * masked * d * d : HUGE_VAL) / 3;
  const double feature_decoder = s.reconstruct_features ? masked * d * d + last_product : 0;
  const double distances = s.use_positions ? (fused ? 0.02 : 2) * edges * g * g : 0;
  e.flops = 6 * (passes * input_product + deep_rows * d * d + feature_decoder + distances);

  const double weights = 4 * 4 * static_cast<double>(e.parameters);  // values, gradients, two moments
  const double graph_bytes =
      8 * nonzeros + edges * (4 + 4 + 8 + 4 * h * 6) + 8 * n * static_cast<double>(s.eigenvectors);
  const double states = 4 * n * d * passes * (fused ? 4 * layers + 2 : 6 * layers);
  const double messages = fused ? 0 : 4 * edges * d * 2.3 * passes * layers + 4 * edges * g * 8 + 4 * n * f * 4;
  e.bytes = static_cast<int64_t>(2.5e8 + weights + graph_bytes + states + messages + 4 * masked * (f + 4 * d));

  const Rates rates = probe(threads);
  // Fused sums over edges gather from caches, three times as fast as from memory.
  const double gathered = fused ? 4 * edges * d * 3 * (passes * layers - (passes > 1 ? 1 : 0)) / 3 : 0;
  const double traffic = weights * 2 + states + messages * (fused ? 0 : 12) + gathered;
  e.seconds = e.flops / (0.85 * rates.flops) + traffic / rates.bytes;
  return e;
}

std::vector<std::pair<std::string, std::vector<int64_t>>> model_shapes(const Graph& graph, const Settings& settings) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes = {
      {"features X", {graph.num_nodes(), graph.features().columns()}},
      {"edges with self loops", {static_cast<int64_t>(EdgeIndex(graph.adjacency(), true).num_edges())}}};
  if (settings.use_positions) shapes.push_back({"positions U", {graph.num_nodes(), settings.eigenvectors}});
  const GraphPae model(settings, input_shape(graph));
  for (const auto& [name, tensor] : named_tensors(model)) shapes.emplace_back(name, tensor.sizes().vec());
  return shapes;
}

void check_trainable(const Graph& graph, const Settings& settings) {
  check(settings);
  if (settings.encoder != EncoderKind::gat)
    throw usage_error("encoder gated_gcn is for molecules; one graph needs encoder=gat");
  if (graph.features().columns() == 0)
    throw data_error("the graph has no node features; --features names a file of them");
  if (settings.batch_size > 0)
    throw usage_error("sampled mini-batches are not part of this version yet; batch_size=0 trains on the whole graph");
  if (std::floor(settings.mask_ratio * static_cast<double>(graph.num_nodes())) < 1)
    throw usage_error(fmt::format("mask_ratio {} masks none of {} nodes", settings.mask_ratio, graph.num_nodes()));
}

}  // namespace graphpae
