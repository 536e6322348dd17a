#include "graphpae/methods/graph_pae/corrupt.h"

#include <torch/torch.h>

#include <cmath>
#include <numeric>

#include "graphpae/positions/relative_distances.h"

namespace graphpae {
namespace {

enum Draw : uint64_t { kMaskedNodes = 0, kReplacements = 1, kOffsets = 2 };

// Streams of one corruption follow each other, those of the next draw start beyond them.
Rng part(const Rng& rng, Draw draw) { return Rng(rng.bits(2 * draw), rng.bits(2 * draw + 1)); }

}  // namespace

Corruption make_corruption(int64_t num_nodes, std::vector<int32_t> masked, torch::Tensor offsets) {
  return {mask_nodes(num_nodes, std::move(masked)), std::move(offsets)};
}

Corruption draw_corruption(int64_t num_nodes, int64_t k, const Settings& settings, const Rng& rng) {
  const int64_t count = static_cast<int64_t>(std::floor(settings.mask_ratio * static_cast<double>(num_nodes)));
  std::vector<int32_t> masked = part(rng, kMaskedNodes).permutation(static_cast<int32_t>(num_nodes));
  masked.resize(count);

  torch::Tensor offsets;
  if (k > 0) {
    const Rng noise = part(rng, kOffsets);
    offsets = torch::empty({count, k}, torch::kFloat64);
    double* values = offsets.data_ptr<double>();
    for (int64_t n = 0; n < count * k; ++n) values[n] = settings.noise * (2 * noise.uniform(n) - 1);
  }

  Corruption corruption = make_corruption(num_nodes, std::move(masked), std::move(offsets));
  // The masked nodes are in random order, so the last ones are as good as any.
  const int64_t replaced = static_cast<int64_t>(std::floor(settings.replace_ratio * static_cast<double>(count)));
  const Rng donors = part(rng, kReplacements);
  for (int64_t m = count - replaced; m < count && num_nodes > 1; ++m) {
    const int32_t node = corruption.masked[m], other = static_cast<int32_t>(donors.below(m, num_nodes - 1));
    corruption.shown[node] = other < node ? other : other + 1;
  }
  if (!settings.corrupt_features) std::iota(corruption.shown.begin(), corruption.shown.end(), 0);
  return corruption;
}

Corruption part_of(const Corruption& corruption, int64_t first, int64_t count) {
  std::vector<int32_t> masked;
  std::vector<int64_t> rows;
  for (size_t m = 0; m < corruption.masked.size(); ++m) {
    const int64_t node = corruption.masked[m] - first;
    if (node < 0 || node >= count) continue;
    masked.push_back(static_cast<int32_t>(node));
    rows.push_back(static_cast<int64_t>(m));
  }
  Corruption part = make_corruption(count, std::move(masked),
                                    corruption.offsets.defined()
                                        ? corruption.offsets.index_select(0, torch::tensor(rows, torch::kInt64))
                                        : torch::Tensor());
  for (int64_t i = 0; i < count; ++i) {
    const int32_t shown = corruption.shown[static_cast<size_t>(first + i)];
    if (shown == kMaskToken || shown == first + i) {
      part.shown[i] = shown == kMaskToken ? kMaskToken : static_cast<int32_t>(i);
      continue;
    }
    const int64_t donor = ((shown - first) % count + count) % count;
    part.shown[i] = static_cast<int32_t>(donor == i ? (i + 1) % count : donor);
  }
  return part;
}

torch::Tensor corrupted_distances(const GraphInput& input, const Corruption& corruption) {
  const torch::Tensor& clean = input.distances;
  if (clean.scalar_type() != torch::kFloat32) {
    const torch::Tensor shaken = input.positions.index_add(0, corruption.masked_indices, corruption.offsets);
    return edge_distances(input.graph, shaken, clean.scalar_type(), input.threads);
  }
  const EdgeIndex& edges = *input.graph.index;
  const torch::Tensor table = input.positions.contiguous(), offsets = corruption.offsets.contiguous();
  const auto span_of = [](const torch::Tensor& t) {
    return std::span<const double>(t.data_ptr<double>(), static_cast<size_t>(t.numel()));
  };
  const std::vector<float> distances =
      corrupted_distances(PositionTable{span_of(table), table.size(1)}, {edges.sources(), edges.targets()},
                          PositionNoise{corruption.masked, span_of(offsets)},
                          {clean.data_ptr<float>(), static_cast<size_t>(clean.numel())}, input.threads);
  return torch::tensor(distances, torch::kFloat32);
}

}  // namespace graphpae
