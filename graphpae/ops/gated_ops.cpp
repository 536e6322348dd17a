#include "graphpae/ops/gated_ops.h"

#include <optional>

#include "graphpae/kernels/batch_norm.h"
#include "graphpae/kernels/compressed_rows.h"
#include "graphpae/kernels/dense_product.h"
#include "graphpae/kernels/gated_conv.h"
#include "graphpae/kernels/row_ops.h"
#include "graphpae/ops/op_state.h"

namespace graphpae::ops {
namespace {

struct SumEmbeddingsOp : torch::autograd::Function<SumEmbeddingsOp> {
  static Tensor forward(AutogradContext* context, const Tensor& tables, const Tensor& rows, Threads threads) {
    context->save_for_backward({rows});
    context->saved_data["tables"] = tables.size(0);
    const int64_t count = rows.size(0), columns = rows.size(1), d = tables.size(1);
    Tensor out = empty({count, d});
    const float* from = data(tables);
    float* to = data(out);
    const int64_t* row = rows.data_ptr<int64_t>();
#pragma omp parallel for schedule(static) num_threads(threads.count)
    for (int64_t r = 0; r < count; ++r) {
      float* sum = to + r * d;
      std::copy_n(from + row[r * columns] * d, d, sum);
      for (int64_t a = 1; a < columns; ++a) {
        const float* table_row = from + row[r * columns + a] * d;
        for (int64_t j = 0; j < d; ++j) sum[j] += table_row[j];
      }
    }
    return out;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const Tensor rows = context->get_saved_variables()[0], d_out = gradients[0].contiguous();
    const int64_t count = rows.size(0), columns = rows.size(1), d = d_out.size(1);
    Tensor d_tables = torch::zeros({context->saved_data["tables"].toInt(), d}, torch::kFloat32);
    const float* from = data(d_out);
    float* to = data(d_tables);
    const int64_t* row = rows.data_ptr<int64_t>();
    for (int64_t r = 0; r < count; ++r) {
      for (int64_t a = 0; a < columns; ++a) {
        float* table_row = to + row[r * columns + a] * d;
        for (int64_t j = 0; j < d; ++j) table_row[j] += from[r * d + j];
      }
    }
    return {d_tables, Tensor(), Tensor()};
  }
};

const int32_t* map_of(const RowMap& map) { return map == nullptr ? nullptr : map->data(); }

// Rows whose zeros products skip.
using MaybeCompressed = std::optional<kernels::CompressedRows>;

// What the backward pass of a layer reads, beside rows and weights.
struct LayerState {
  GatedBatch batch;
  GatedStates states;  // without the tensors
  kernels::Dropout dropout;
  bool has_positions;
  MaybeCompressed nodes, edges;  // unless they are made again
  Tensor a2, gates;              // [.,D] in the rows of nodes, [E,D]

  kernels::GatedGraph graph() const { return {*batch.edges, *batch.blocks, data(batch.node_scale), gates.size(1)}; }
  kernels::GatedSaved saved() const {
    return {{data(a2), a2.size(1), map_of(states.node_rows)}, data(gates), map_of(states.position_rows)};
  }
};

MaybeCompressed compress(const Tensor& x, double density, Threads threads) {
  if (!kernels::compression_pays(density)) return {};
  return kernels::compress_rows(data(x), x.size(0), x.size(1), threads);
}

// y = x weight + bias
Tensor product(const Tensor& x, const MaybeCompressed& compressed, const Tensor& weight, const Tensor& bias,
               Threads threads) {
  const int64_t n = x.size(0), k = x.size(1), d = weight.size(1);
  Tensor y = empty({n, d});
  if (compressed) {
    kernels::compressed_product(*compressed, data(weight), d, data(bias), data(y), threads);
  } else {
    kernels::dense_product(kernels::plain(data(x), k), kernels::plain(data(weight), d), n, d, k, data(y), d,
                           {.bias = data(bias)}, threads);
  }
  return y;
}

// Gradients of x, weight and bias from those of the columns from `first` on; other columns have none. Those of zeros of
// a compressed x are left out.
struct ProductGradients {
  Tensor x, weight, bias;
};
ProductGradients product_backward(const Tensor& x, const MaybeCompressed& compressed, const Tensor& weight,
                                  const Tensor& d_y, int64_t first, Threads threads) {
  const int64_t n = x.size(0), k = x.size(1), all = weight.size(1), d = d_y.size(1);
  ProductGradients g{empty({n, k}), empty({k, all}), empty({all})};
  if (first > 0) {
    g.weight.slice(1, 0, first).zero_();
    g.bias.slice(0, 0, first).zero_();
  }
  if (compressed) {
    kernels::sampled_product(*compressed, data(d_y), data(weight) + first, all, d, data(g.x), threads);
    kernels::compressed_transposed_product(*compressed, data(d_y), d, data(g.weight) + first, all, threads);
  } else {
    kernels::dense_product(kernels::plain(data(d_y), d), kernels::transposed(data(weight) + first, all), n, k, d,
                           data(g.x), k, {}, threads);
    kernels::dense_product(kernels::transposed(data(x), k), kernels::plain(data(d_y), d), k, d, n,
                           data(g.weight) + first, all, {}, threads);
  }
  kernels::column_sums(data(d_y), n, d, data(g.bias) + first, threads);
  return g;
}

// The gradients of shared rows from those of every node or edge.
Tensor shared(const Tensor& gradients, const RowMap& map, int64_t count, Threads threads) {
  if (map == nullptr) return gradients;
  Tensor sums = empty({count, gradients.size(1)});
  kernels::sum_shared_rows(data(gradients), map->data(), gradients.size(0), gradients.size(1), data(sums), count,
                           threads);
  return sums;
}

struct GatedLayerOp : torch::autograd::Function<GatedLayerOp> {
  static tensor_list forward(AutogradContext* context, const Tensor& nodes, const Tensor& edges,
                             const Tensor& positions, const Tensor& node_weight, const Tensor& node_bias,
                             const Tensor& edge_weight, const Tensor& edge_bias, const GatedBatch& batch,
                             const GatedStates& states, const GatedWants& wants) {
    context->set_materialize_grads(false);
    const int64_t n = batch.edges->num_nodes(), e = batch.edges->num_edges(), d = edge_weight.size(1);
    MaybeCompressed few_nodes = compress(nodes, states.node_density, batch.threads),
                    few_edges = compress(edges, states.edge_density, batch.threads);
    const Tensor node_terms = product(nodes, few_nodes, node_weight, node_bias, batch.threads),
                 edge_terms = product(edges, few_edges, edge_weight, edge_bias, batch.threads);
    if (states.nodes_again) few_nodes.reset();
    if (states.edges_again) few_edges.reset();
    LayerState state{batch,
                     states,
                     wants.position_dropout,
                     is_there(positions),
                     std::move(few_nodes),
                     std::move(few_edges),
                     node_terms.narrow(1, d, d).contiguous(),
                     empty({e, d})};
    const kernels::GatedTerms terms{{data(node_terms), 4 * d, map_of(state.states.node_rows)},
                                    {data(edge_terms), d, map_of(state.states.edge_rows)},
                                    {data_or_null(positions), d, map_of(state.states.position_rows)}};
    Tensor out = empty({n, d}), hat = empty({wants.hat ? e : 0, d}), refined = empty({wants.refined ? e : 0, d});
    kernels::gated_conv(state.graph(), terms, state.dropout, data(state.gates), data(out),
                        wants.hat ? data(hat) : nullptr, wants.refined ? data(refined) : nullptr, batch.threads);
    context->save_for_backward({state.states.nodes_again ? Tensor() : nodes,
                                state.states.edges_again ? Tensor() : edges, node_weight, edge_weight});
    context->saved_data["position_rows"] = positions.size(0);
    keep(context, std::move(state));
    return {out, hat, refined};
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    // Taken out of the graph, so that its memory is free when this layer is done.
    LayerState state = std::move(kept<LayerState>(context));
    const auto saved = context->get_saved_variables();
    const Tensor &node_weight = saved[2], &edge_weight = saved[3];
    const Threads threads = state.batch.threads;
    const int64_t n = state.batch.edges->num_nodes(), e = state.batch.edges->num_edges(), d = edge_weight.size(1);
    const auto contiguous = [](const Tensor& t) { return t.defined() && t.numel() > 0 ? t.contiguous() : Tensor(); };
    Tensor d_nodes = contiguous(gradients[0]), d_hat = contiguous(gradients[1]), d_refined = contiguous(gradients[2]);
    const int64_t first = d_nodes.defined() ? 0 : 2 * d;  // A1 and A2 have gradients only if the nodes have
    Tensor d_node_terms = empty({n, 4 * d - first}), d_edge_terms = empty({e, d}), d_positions;
    if (state.has_positions) {
      const int64_t rows = context->saved_data["position_rows"].toInt();
      d_positions = state.states.position_rows == nullptr ? empty({rows, d}) : torch::zeros({rows, d}, torch::kFloat32);
    }
    kernels::gated_conv_backward(state.graph(), state.saved(), state.dropout, data_or_null(d_nodes),
                                 data_or_null(d_hat), data_or_null(d_refined), data(d_node_terms), data(d_edge_terms),
                                 state.has_positions ? data(d_positions) : nullptr, threads);
    // What is done with goes before the next comes: these are the largest moments of a step.
    gradients.clear();
    d_nodes = d_hat = d_refined = state.a2 = state.gates = Tensor();
    const auto through = [&](const Remake& again, const Tensor& kept_rows, const MaybeCompressed& kept_few,
                             double density, const Tensor& weight, const RowMap& map, Tensor& d_terms,
                             int64_t first_column) {
      const Tensor rows = again ? again() : kept_rows;
      const Tensor d_rows = shared(d_terms, map, rows.size(0), threads);
      d_terms = Tensor();
      return product_backward(rows, again ? compress(rows, density, threads) : kept_few, weight, d_rows, first_column,
                              threads);
    };
    const auto node = through(state.states.nodes_again, saved[0], state.nodes, state.states.node_density, node_weight,
                              state.states.node_rows, d_node_terms, first);
    const auto edge = through(state.states.edges_again, saved[1], state.edges, state.states.edge_density, edge_weight,
                              state.states.edge_rows, d_edge_terms, 0);
    return {node.x, edge.x, d_positions, node.weight, node.bias, edge.weight, edge.bias, Tensor(), Tensor(), Tensor()};
  }
};

constexpr double kMomentum = 0.1, kEpsilon = 1e-5;

struct Moments {
  Tensor mean, variance;  // [D]
  double rows;            // that they are of
};

// From the moments of this process to those of all: sums of rows, values and squares are what adds up.
void join_moments(double& rows, std::vector<double>& mean, std::vector<double>& squares, Exchange& exchange) {
  const size_t d = mean.size();
  std::vector<double> sums(2 * d + 1);
  sums[2 * d] = rows;
  for (size_t j = 0; j < d; ++j) {
    sums[j] = rows * mean[j];
    sums[d + j] = squares[j] + rows * mean[j] * mean[j];
  }
  exchange.sum(sums);
  rows = sums[2 * d];
  for (size_t j = 0; j < d; ++j) {
    mean[j] = sums[j] / rows;
    squares[j] = std::max(sums[d + j] - rows * mean[j] * mean[j], 0.0);
  }
}

// Of the rows of x; the running moments move unless there are fewer than two rows.
Moments moments_of(const Tensor& x, Tensor& running_mean, Tensor& running_var, Threads threads, Exchange* exchange) {
  const int64_t d = x.size(1);
  double rows = static_cast<double>(x.size(0));
  std::vector<double> centre(static_cast<size_t>(d)), squares(static_cast<size_t>(d));
  kernels::column_moments(data(x), x.size(0), d, centre.data(), squares.data(), threads);
  if (exchange != nullptr) join_moments(rows, centre, squares, *exchange);
  Moments moments{empty({d}), empty({d}), rows};
  float *mean = data(moments.mean), *variance = data(moments.variance);
  for (int64_t j = 0; j < d; ++j) {
    mean[j] = static_cast<float>(centre[j]);
    variance[j] = static_cast<float>(squares[j] / std::max(rows, 1.0));
  }
  if (rows < 2) return moments;
  const float move = kMomentum, unbiased = static_cast<float>(rows / (rows - 1));
  float *to_mean = data(running_mean), *to_variance = data(running_var);
  for (int64_t j = 0; j < d; ++j) {
    to_mean[j] += move * (mean[j] - to_mean[j]);
    to_variance[j] += move * (variance[j] * unbiased - to_variance[j]);
  }
  return moments;
}

struct BatchNormState {
  Tensor mean, inverse;  // [D]
  bool training, relu;
  kernels::Dropout dropout;
  Threads threads;
  Exchange* exchange;
  double rows;  // that the moments are of

  kernels::BatchNorm norm(const Tensor& weight, const Tensor& bias) const {
    return {weight.size(0), data(mean), data(inverse), data(weight), data(bias), relu, dropout};
  }
};

struct BatchNormOp : torch::autograd::Function<BatchNormOp> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        Tensor running_mean, Tensor running_var, bool training, bool relu,
                        const kernels::Dropout& dropout, Threads threads, Remake* again, Exchange* exchange) {
    const Moments moments = training ? moments_of(x, running_mean, running_var, threads, exchange)
                                     : Moments{running_mean.clone(), running_var, 0};
    BatchNormState state{moments.mean, empty({x.size(1)}), training, relu, dropout, threads, exchange, moments.rows};
    const float* variance = data(moments.variance);
    float* inverse = data(state.inverse);
    for (int64_t j = 0; j < x.size(1); ++j) inverse[j] = static_cast<float>(1 / std::sqrt(variance[j] + kEpsilon));
    const auto make = [state, x = x.detach(), weight = weight.detach(), bias = bias.detach()] {
      Tensor y = empty(x.sizes());
      kernels::batch_norm(state.norm(weight, bias), data(x), x.size(0), data(y), state.threads);
      return y;
    };
    const Tensor y = make();
    if (again != nullptr) *again = make;
    context->save_for_backward({x, weight, bias});
    keep(context, std::move(state));
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const BatchNormState& state = kept<BatchNormState>(context);
    TORCH_INTERNAL_ASSERT(state.training);  // the moments are taken to be those of x
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &bias = saved[2], d_y = gradients[0].contiguous();
    const kernels::BatchNorm norm = state.norm(weight, bias);
    const int64_t n = x.size(0), d = x.size(1);
    Tensor d_x = empty(x.sizes()), d_weight = empty(weight.sizes()), d_bias = empty(bias.sizes());
    kernels::batch_norm_parameter_gradients(norm, data(x), data(d_y), n, data(d_bias), data(d_weight), state.threads);
    std::vector<float> means(data(d_bias), data(d_bias) + d);
    means.insert(means.end(), data(d_weight), data(d_weight) + d);
    if (state.exchange != nullptr) {
      std::vector<double> sums(means.begin(), means.end());
      state.exchange->sum(sums);
      means.assign(sums.begin(), sums.end());
    }
    const float share = 1.0f / static_cast<float>(std::max(state.rows, 1.0));
    for (float& mean : means) mean *= share;
    kernels::batch_norm_backward(norm, data(x), data(d_y), n, means.data(), means.data() + d, data(d_x), state.threads);
    tensor_list out = {d_x, d_weight, d_bias};
    out.resize(11);
    return out;
  }
};

struct SumOverProcessesOp : torch::autograd::Function<SumOverProcessesOp> {
  static Tensor summed(const Tensor& x, Exchange& exchange) {
    Tensor sum = x.contiguous().clone();
    exchange.sum({sum.data_ptr<double>(), static_cast<size_t>(sum.numel())});
    return sum;
  }
  static Tensor forward(AutogradContext* context, const Tensor& x, Exchange* exchange) {
    keep(context, exchange);
    return summed(x, *exchange);
  }
  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    return {summed(gradients[0], *kept<Exchange*>(context)), Tensor()};
  }
};

}  // namespace

Tensor sum_embeddings(const Tensor& tables, const Tensor& rows, Threads threads) {
  return SumEmbeddingsOp::apply(tables, rows.contiguous(), threads);
}

GatedOutput gated_layer(const GatedBatch& batch, const GatedStates& states, const GatedParameters& parameters,
                        const GatedWants& wants) {
  GatedStates maps = states;  // what has no gradients
  maps.nodes = maps.edges = maps.positions = Tensor();
  const tensor_list out =
      GatedLayerOp::apply(states.nodes, states.edges, or_empty(states.positions), parameters.node_weight,
                          parameters.node_bias, parameters.edge_weight, parameters.edge_bias, batch, maps, wants);
  return {out[0], wants.hat ? out[1] : Tensor(), wants.refined ? out[2] : Tensor()};
}

Tensor batch_norm(const Tensor& x, const NormParameters& p, bool training, bool relu, const kernels::Dropout& dropout,
                  Threads threads, Remake* again, Exchange* exchange) {
  return BatchNormOp::apply(x, p.weight, p.bias, p.running_mean, p.running_var, training, relu, dropout, threads, again,
                            exchange);
}

void track_moments(const Tensor& x, const NormParameters& p, Threads threads, Exchange* exchange) {
  Tensor mean = p.running_mean, variance = p.running_var;
  moments_of(x, mean, variance, threads, exchange);
}

Tensor sum_over_processes(const Tensor& x, Exchange& exchange) { return SumOverProcessesOp::apply(x, &exchange); }

}  // namespace graphpae::ops
