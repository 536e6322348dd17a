#include "graphpae/ops/position_ops.h"

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/distance_table.h"
#include "graphpae/kernels/position_loss.h"
#include "graphpae/ops/op_state.h"

namespace graphpae::ops {
namespace {

// Distinct distances: one per undirected pair, one for self loops, then those of pairs whose distance was corrupted.
struct DistinctDistances {
  Buffer<float> values;                  // [M]
  std::vector<int32_t> corrupted_place;  // [pairs+1] where the corrupted distance of a pair is; empty if there are none
};

DistinctDistances distinct_distances(const EdgeIndex& edges, const Tensor& clean, const Tensor& corrupted) {
  const int64_t pairs = edges.num_pairs();
  const std::span<const int32_t> forward = edges.pair_forward();
  DistinctDistances distinct;
  distinct.values.reserve(static_cast<size_t>(is_there(corrupted) ? 2 * pairs + 1 : pairs + 1));
  distinct.values.resize(static_cast<size_t>(pairs + 1));
  const float* values = data(clean);
  for (int64_t p = 0; p < pairs; ++p) distinct.values[p] = values[forward[p]];
  distinct.values[pairs] = 0;
  if (!is_there(corrupted)) return distinct;
  const float* shaken = data(corrupted);
  distinct.corrupted_place.resize(static_cast<size_t>(pairs + 1));
  for (int64_t p = 0; p < pairs; ++p) {
    distinct.corrupted_place[p] = static_cast<int32_t>(p);
    if (shaken[forward[p]] == values[forward[p]]) continue;
    distinct.corrupted_place[p] = static_cast<int32_t>(distinct.values.size());
    distinct.values.push_back(shaken[forward[p]]);
  }
  distinct.corrupted_place[pairs] = static_cast<int32_t>(pairs);
  return distinct;
}

kernels::DistanceEmbedding embedding_of(const tensor_list& p, bool density) {
  return {p[0].size(0), p[3].size(0), p[5].size(0), density,    data(p[0]),
          data(p[1]),   data(p[2]),   data(p[3]),   data(p[4]), data(p[5])};
}

struct EmbedState {
  kernels::DistanceGrid grid;
  bool density;
  Threads threads;
};

// values [M] -> [M,H]
struct EmbedRowsOp : torch::autograd::Function<EmbedRowsOp> {
  static Tensor forward(AutogradContext* context, const Buffer<float>& values, const Tensor& means,
                        const Tensor& deviations, const Tensor& lift_weight, const Tensor& lift_bias,
                        const Tensor& project_weight, const Tensor& project_bias, bool density, Threads threads) {
    const tensor_list parameters = {means, deviations, lift_weight, lift_bias, project_weight, project_bias};
    const kernels::DistanceEmbedding embedding = embedding_of(parameters, density);
    const int64_t count = static_cast<int64_t>(values.size());
    EmbedState state{kernels::make_distance_grid(embedding, values.data(), count, threads), density, threads};
    Tensor rows = empty({count, project_bias.size(0)});
    kernels::table_forward(embedding, state.grid, data(rows), threads);
    context->save_for_backward(parameters);
    keep(context, std::move(state));
    return rows;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const EmbedState& state = kept<EmbedState>(context);
    const tensor_list parameters = context->get_saved_variables();
    const Tensor d_rows = gradients[0].contiguous();
    tensor_list out(1);  // distances have no gradients
    for (const Tensor& parameter : parameters) out.push_back(empty(parameter.sizes()));
    kernels::table_backward(embedding_of(parameters, state.density), state.grid, data(d_rows),
                            {data(out[1]), data(out[2]), data(out[3]), data(out[4]), data(out[5]), data(out[6])},
                            state.threads);
    out.resize(9);
    return out;
  }
};

struct SpreadState {
  EdgesPtr edges;
  RowMap places;  // [pairs+1] the row of each pair and of self loops; null: their own number
  int64_t rows;
  Threads threads;

  int64_t place(int64_t pair) const { return places == nullptr ? pair : (*places)[pair]; }
};

// out[e] = rows[place of the edge's pair]. rows [M,H] -> [E,H]
struct SpreadOp : torch::autograd::Function<SpreadOp> {
  static Tensor forward(AutogradContext* context, const Tensor& rows, const EdgesPtr& edges, const RowMap& places,
                        Threads threads) {
    const SpreadState state{edges, places, rows.size(0), threads};
    const int64_t heads = rows.size(1), count = edges->num_edges();
    Tensor out = empty({count, heads});
    const float* from = data(rows);
    float* to = data(out);
    const std::span<const int32_t> pair = edges->pair_of_edge();
#pragma omp parallel for schedule(static) num_threads(threads.count)
    for (int64_t e = 0; e < count; ++e) {
      const int64_t row = state.place(pair[e]);
      for (int64_t h = 0; h < heads; ++h) to[e * heads + h] = from[row * heads + h];
    }
    keep(context, state);
    return out;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const SpreadState& state = kept<SpreadState>(context);
    const EdgeIndex& edges = *state.edges;
    const Tensor gradient = gradients[0].contiguous();
    const int64_t heads = gradient.size(1), pairs = edges.num_pairs();
    Tensor d_rows = torch::zeros({state.rows, heads}, torch::kFloat32);
    const float* from = data(gradient);
    float* to = data(d_rows);
    const std::span<const int32_t> forward_edge = edges.pair_forward(), backward_edge = edges.pair_backward();
    // A pair's row gets its one or two edges, and no other pair writes it.
#pragma omp parallel for schedule(static) num_threads(state.threads.count)
    for (int64_t p = 0; p < pairs; ++p) {
      float* row = to + state.place(p) * heads;
      const int64_t f = forward_edge[p], b = backward_edge[p];
      for (int64_t h = 0; h < heads; ++h) row[h] += from[f * heads + h] + (b == f ? 0.0f : from[b * heads + h]);
    }
    const std::span<const int32_t> pair = edges.pair_of_edge();
    std::vector<double> loops(static_cast<size_t>(heads), 0.0);
    for (int64_t e = 0; e < edges.num_edges(); ++e) {
      if (pair[e] != pairs) continue;
      for (int64_t h = 0; h < heads; ++h) loops[h] += from[e * heads + h];
    }
    for (int64_t h = 0; h < heads; ++h) to[state.place(pairs) * heads + h] += static_cast<float>(loops[h]);
    return {d_rows, Tensor(), Tensor(), Tensor()};
  }
};

struct PositionErrorState {
  tensor_list gradients;  // of refined and the six parameters
};

struct PositionErrorOp : torch::autograd::Function<PositionErrorOp> {
  static Tensor forward(AutogradContext* context, const EdgesPtr& edges, const Tensor& refined, const Tensor& distances,
                        const std::vector<int32_t>& masked, const Tensor& dense_weight, const Tensor& dense_bias,
                        const Tensor& norm_weight, const Tensor& norm_bias, const Tensor& out_weight,
                        const Tensor& out_bias, Threads threads) {
    const CountedPairs counted = counted_pairs(*edges, distances, masked);
    PositionErrorState state;
    for (const Tensor& tensor : {refined, dense_weight, dense_bias, norm_weight, norm_bias, out_weight, out_bias})
      state.gradients.push_back(empty(tensor.sizes()));
    auto& g = state.gradients;
    const kernels::PositionDecoder decoder{dense_weight.size(0), dense_weight.size(1), data(dense_weight),
                                           data(dense_bias),     data(norm_weight),    data(norm_bias),
                                           data(out_weight),     data(out_bias)};
    const kernels::PositionDecoderGradients gradients{data(g[1]), data(g[2]), data(g[3]),
                                                      data(g[4]), data(g[5]), data(g[6])};
    const double loss = kernels::position_loss(*edges, decoder,
                                               {static_cast<int64_t>(counted.pairs.size()), counted.pairs.data(),
                                                counted.weights.data(), counted.distances.data()},
                                               data(refined), data(g[0]), gradients, threads);
    keep(context, std::move(state));
    return torch::tensor(loss, torch::kFloat32);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    PositionErrorState& state = kept<PositionErrorState>(context);
    const float scale = gradients[0].item<float>();
    tensor_list out(11);
    const int places[] = {1, 4, 5, 6, 7, 8, 9};
    for (size_t k = 0; k < state.gradients.size(); ++k) out[places[k]] = state.gradients[k] * scale;
    return out;
  }
};

}  // namespace

Tensor embed_values(const Buffer<float>& values, const EmbeddingParameters& p, Threads threads) {
  return EmbedRowsOp::apply(values, p.means, p.deviations, p.lift_weight, p.lift_bias, p.project_weight, p.project_bias,
                            p.density, threads);
}

DistanceRows embed_distance_rows(const EdgesPtr& edges, const Tensor& clean, const Tensor& corrupted,
                                 const EmbeddingParameters& p, Threads threads) {
  DistinctDistances distinct = distinct_distances(*edges, clean, or_empty(corrupted));
  DistanceRows result;
  result.rows = embed_values(distinct.values, p, threads);
  if (corrupted.defined())
    result.corrupted_place = std::make_shared<const std::vector<int32_t>>(std::move(distinct.corrupted_place));
  return result;
}

std::pair<Tensor, Tensor> embed_distances(const EdgesPtr& edges, const Tensor& clean, const Tensor& corrupted,
                                          const EmbeddingParameters& p, Threads threads) {
  const DistanceRows distances = embed_distance_rows(edges, clean, corrupted, p, threads);
  const Tensor spread = SpreadOp::apply(distances.rows, edges, RowMap(), threads);
  if (!corrupted.defined()) return {spread, Tensor()};
  return {spread, SpreadOp::apply(distances.rows, edges, distances.corrupted_place, threads)};
}

CountedPairs counted_pairs(const EdgeIndex& edges, const Tensor& distances, const std::vector<int32_t>& masked) {
  std::vector<uint8_t> is_masked(static_cast<size_t>(edges.num_nodes()), 0);
  for (const int32_t node : masked) is_masked[node] = 1;
  const float* clean = data(distances);
  CountedPairs counted;
  for (int64_t p = 0; p < edges.num_pairs(); ++p) {
    const int32_t edge = edges.pair_forward()[p];
    const int count = is_masked[edges.sources()[edge]] + is_masked[edges.targets()[edge]];
    if (count == 0) continue;
    counted.pairs.push_back(static_cast<int32_t>(p));
    counted.weights.push_back(static_cast<float>(count));
    counted.distances.push_back(clean[edge]);
  }
  return counted;
}

Tensor position_error(const EdgesPtr& edges, const Tensor& refined, const Tensor& distances,
                      const std::vector<int32_t>& masked, const PositionDecoderParameters& p, Threads threads) {
  return PositionErrorOp::apply(edges, refined, distances, masked, p.dense_weight, p.dense_bias, p.norm_weight,
                                p.norm_bias, p.out_weight, p.out_bias, threads);
}

}  // namespace graphpae::ops
