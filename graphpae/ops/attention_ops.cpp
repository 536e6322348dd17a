#include "graphpae/ops/attention_ops.h"

#include "graphpae/kernels/attention.h"
#include "graphpae/kernels/dense_product.h"
#include "graphpae/kernels/narrow_product.h"
#include "graphpae/kernels/reweigh.h"
#include "graphpae/kernels/row_ops.h"
#include "graphpae/kernels/target_attention.h"
#include "graphpae/ops/op_state.h"

namespace graphpae::ops {
namespace {

// A gradient that autograd left out is zero.
Tensor or_zeros(const Tensor& gradient, at::IntArrayRef shape) {
  return gradient.defined() ? gradient.contiguous() : torch::zeros(shape, torch::kFloat32);
}

struct HeadLogitsOp : torch::autograd::Function<HeadLogitsOp> {
  static tensor_list forward(AutogradContext* context, const Tensor& z, const Tensor& source, const Tensor& target,
                             Threads threads) {
    keep(context, threads);
    context->save_for_backward({z, source, target});
    const int64_t n = z.size(0), heads = source.size(0);
    Tensor source_logits = empty({n, heads}), target_logits = empty({n, heads});
    kernels::head_logits(data(z), data(source), data(target), n, z.size(1), heads, data(source_logits),
                         data(target_logits), threads);
    return {source_logits, target_logits};
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &z = saved[0], &source = saved[1], &target = saved[2];
    const int64_t n = z.size(0), heads = source.size(0);
    const Tensor d_source_logits = or_zeros(gradients[0], {n, heads}),
                 d_target_logits = or_zeros(gradients[1], {n, heads});
    Tensor d_z = torch::zeros(z.sizes(), torch::kFloat32), d_source = empty(source.sizes()),
           d_target = empty(target.sizes());
    kernels::head_logits_backward(data(z), data(source), data(target), data(d_source_logits), data(d_target_logits), n,
                                  z.size(1), heads, data(d_z), data(d_source), data(d_target), kept<Threads>(context));
    return {d_z, d_source, d_target, Tensor()};
  }
};

struct EdgeState {
  EdgesPtr edges;
  int64_t heads;
  bool has_positions;
  Threads threads;
};

Tensor positions_or_zeros(const Tensor& positions, const EdgesPtr& edges, int64_t heads) {
  return is_there(positions) ? positions : torch::zeros({edges->num_edges(), heads}, torch::kFloat32);
}

struct EdgeLogitsOp : torch::autograd::Function<EdgeLogitsOp> {
  static Tensor forward(AutogradContext* context, const EdgesPtr& edges, const Tensor& source, const Tensor& target,
                        const Tensor& positions, Threads threads) {
    const int64_t heads = source.size(1);
    keep(context, EdgeState{edges, heads, is_there(positions), threads});
    const Tensor shifts = positions_or_zeros(positions, edges, heads);
    Tensor refined = empty({edges->num_edges(), heads});
    kernels::attention_forward(*edges, heads, 0, data(source), data(target), data(shifts), data(refined), nullptr,
                               threads);
    return refined;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const EdgeState& state = kept<EdgeState>(context);
    const Tensor d_refined = gradients[0].contiguous();
    Tensor d_source = empty({state.edges->num_nodes(), state.heads}), d_target = empty(d_source.sizes());
    kernels::edge_logits_backward(*state.edges, state.heads, data(d_refined), data(d_source), data(d_target),
                                  state.threads);
    return {Tensor(), d_source, d_target, state.has_positions ? d_refined : Tensor(), Tensor()};
  }
};

struct AttendState {
  EdgesPtr edges;
  WorkspacePtr workspace;
  double slope;
  kernels::Dropout dropout;
  bool has_positions;
  Tensor alpha;    // [E,H] before dropout
  Tensor weights;  // [E,H] after it; alpha itself if there is none
  Threads threads;
};

struct AttendOp : torch::autograd::Function<AttendOp> {
  static tensor_list forward(AutogradContext* context, const EdgesPtr& edges, const Tensor& z, const Tensor& source,
                             const Tensor& target, const Tensor& positions, const Tensor& bias, double slope,
                             const kernels::Dropout& dropout, const WorkspacePtr& workspace, Threads threads,
                             const EdgeWeightsPtr& edge_weights) {
    const int64_t n = z.size(0), d = z.size(1), heads = source.size(0), edge_count = edges->num_edges();
    Tensor source_logits = empty({n, heads}), target_logits = empty({n, heads});
    kernels::head_logits(data(z), data(source), data(target), n, d, heads, data(source_logits), data(target_logits),
                         threads);
    AttendState state{edges, workspace, slope, dropout, is_there(positions), empty({edge_count, heads}), {}, threads};
    const Tensor shifts = positions_or_zeros(positions, edges, heads);
    Tensor refined = empty({edge_count, heads}), nodes = empty({n, d});
    kernels::attention_forward(*edges, heads, static_cast<float>(slope), data(source_logits), data(target_logits),
                               data(shifts), data(refined), data(state.alpha), threads);
    if (edge_weights) kernels::reweigh(edges->offsets(), heads, edge_weights->data(), data(state.alpha), threads);
    state.weights = state.alpha;
    if (dropout.active()) {
      state.weights = empty({edge_count, heads});
      kernels::drop_edge_weights(dropout, edge_count, heads, data(state.alpha), data(state.weights), threads);
    }
    kernels::aggregate_forward(*edges, heads, d / heads, data(state.weights), data(z), data(bias), data(nodes),
                               *workspace, threads);
    context->save_for_backward({z, refined, source, target});
    keep(context, std::move(state));
    return {nodes, refined};
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    AttendState& state = kept<AttendState>(context);
    const auto saved = context->get_saved_variables();
    const Tensor &z = saved[0], &refined = saved[1], &source = saved[2], &target = saved[3];
    const int64_t n = z.size(0), d = z.size(1), heads = refined.size(1), edge_count = refined.size(0);
    const EdgeIndex& edges = *state.edges;
    Tensor d_z, d_bias, d_weights;
    if (gradients[0].defined()) {
      const Tensor d_nodes = gradients[0].contiguous();
      d_z = empty({n, d});
      d_bias = empty({d});
      d_weights = empty({edge_count, heads});
      kernels::aggregate_backward(edges, heads, d / heads, data(state.weights), data(z), data(d_nodes), data(d_z),
                                  data(d_weights), *state.workspace, state.threads);
      if (state.dropout.active())
        kernels::drop_edge_weights(state.dropout, edge_count, heads, data(d_weights), data(d_weights), state.threads);
      kernels::column_sums(data(d_nodes), n, d, data(d_bias), state.threads);
    } else {
      d_z = torch::zeros({n, d}, torch::kFloat32);
      d_weights = torch::zeros({edge_count, heads}, torch::kFloat32);
    }
    const Tensor d_refined = gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    Tensor d_source_logits = empty({n, heads}), d_target_logits = empty({n, heads});
    kernels::attention_backward(edges, heads, static_cast<float>(state.slope), data(refined), data(state.alpha),
                                data(d_weights), data_or_null(d_refined), data(d_weights), data(d_source_logits),
                                data(d_target_logits), state.threads);
    Tensor d_source = empty(source.sizes()), d_target = empty(target.sizes());
    kernels::head_logits_backward(data(z), data(source), data(target), data(d_source_logits), data(d_target_logits), n,
                                  d, heads, data(d_z), data(d_source), data(d_target), state.threads);
    return {Tensor(), d_z,      d_source, d_target, state.has_positions ? d_weights : Tensor(), d_bias, Tensor(),
            Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

struct TargetState {
  kernels::TargetEdges edges;
  int64_t num_edges;
  double slope;
  kernels::Dropout dropout;
  bool has_positions;
  Threads threads;
  Tensor folded = {};   // [K,2H] the attention vectors times the weight
  Tensor alpha = {};    // [S,H]
  Tensor weights = {};  // [S,H] alpha after dropout
  Tensor sums = {};     // [M,H,K]
};

struct AttendTargetsOp : torch::autograd::Function<AttendTargetsOp> {
  static tensor_list forward(AutogradContext* context, const EdgesPtr& edges, std::span<const int32_t> targets,
                             const Tensor& x, const Tensor& weight, const Tensor& source, const Tensor& target,
                             const Tensor& positions, const Tensor& bias, double slope, const kernels::Dropout& dropout,
                             Threads threads, const EdgeWeightsPtr& edge_weights) {
    const int64_t n = x.size(0), k = x.size(1), d = weight.size(1), heads = source.size(0), c = d / heads;
    TargetState state{
        kernels::target_edges(*edges, targets), edges->num_edges(), slope, dropout, is_there(positions), threads};
    Tensor source_vectors = empty({k, heads}), target_vectors = empty({k, heads});
    kernels::head_logits(data(weight), data(source), data(target), k, d, heads, data(source_vectors),
                         data(target_vectors), threads);
    state.folded = torch::cat({source_vectors, target_vectors}, 1);
    Tensor logits = empty({n, 2 * heads});
    kernels::narrow_product(data(x), data(state.folded), n, k, 2 * heads, data(logits), threads);
    const Tensor source_logits = logits.slice(1, 0, heads).contiguous(),
                 target_logits = logits.slice(1, heads).contiguous();
    const int64_t m = state.edges.num_targets(), s = state.edges.num_edges();
    Tensor refined = empty({s, heads});
    state.alpha = empty({s, heads});
    kernels::target_attention(state.edges, heads, static_cast<float>(slope), data(source_logits), data(target_logits),
                              data_or_null(positions), data(refined), data(state.alpha), threads);
    if (edge_weights) {
      std::vector<float> of_slots;
      for (const int32_t edge : state.edges.edges) of_slots.push_back((*edge_weights)[static_cast<size_t>(edge)]);
      kernels::reweigh(state.edges.offsets, heads, of_slots.data(), data(state.alpha), threads);
    }
    state.weights = state.alpha;
    if (dropout.active()) {
      state.weights = empty({s, heads});
      kernels::drop_target_weights(state.edges, heads, dropout, data(state.alpha), data(state.weights), threads);
    }
    state.sums = empty({m, heads, k});
    kernels::target_sums(state.edges, heads, k, data(state.weights), data(x), data(state.sums), threads);
    Tensor out = empty({m, d});
    for (int64_t h = 0; h < heads; ++h) {
      kernels::dense_product(kernels::plain(data(state.sums) + h * k, heads * k),
                             kernels::plain(data(weight) + h * c, d), m, c, k, data(out) + h * c, d,
                             {.bias = data(bias) + h * c}, threads);
    }
    context->save_for_backward({x, weight, source, target, refined});
    keep(context, std::move(state));
    return {out, refined};
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    TargetState& state = kept<TargetState>(context);
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], &source = saved[2], &target = saved[3], &refined = saved[4];
    const int64_t n = x.size(0), k = x.size(1), d = weight.size(1), heads = source.size(0), c = d / heads;
    const int64_t m = state.edges.num_targets(), s = state.edges.num_edges();
    const Tensor d_out = or_zeros(gradients[0], {m, d}),
                 d_refined = gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    const Threads threads = state.threads;

    Tensor d_sums = empty({m, heads, k}), d_weight = empty({k, d}), d_bias = empty({d});
    for (int64_t h = 0; h < heads; ++h) {
      kernels::dense_product(kernels::plain(data(d_out) + h * c, d), kernels::transposed(data(weight) + h * c, d), m, k,
                             c, data(d_sums) + h * k, heads * k, {}, threads);
      kernels::dense_product(kernels::transposed(data(state.sums) + h * k, heads * k),
                             kernels::plain(data(d_out) + h * c, d), k, c, m, data(d_weight) + h * c, d, {}, threads);
    }
    kernels::column_sums(data(d_out), m, d, data(d_bias), threads);

    Tensor d_x = empty({n, k}), d_alpha = empty({s, heads});
    kernels::target_sums_backward(state.edges, heads, k, data(state.weights), data(x), data(d_sums), data(d_x),
                                  data(d_alpha), threads);
    if (state.dropout.active())
      kernels::drop_target_weights(state.edges, heads, state.dropout, data(d_alpha), data(d_alpha), threads);
    Tensor d_positions = state.has_positions ? empty({state.num_edges, heads}) : Tensor();
    Tensor d_source_logits = empty({n, heads}), d_target_logits = empty({n, heads});
    kernels::target_attention_backward(state.edges, heads, static_cast<float>(state.slope), data(refined),
                                       data(state.alpha), data(d_alpha), data_or_null(d_refined), state.num_edges,
                                       state.has_positions ? data(d_positions) : nullptr, data(d_source_logits),
                                       data(d_target_logits), threads);

    const Tensor d_logits = torch::cat({d_source_logits, d_target_logits}, 1);  // [N,2H]
    Tensor d_x_logits = empty({n, k}), d_folded = empty({k, 2 * heads});
    kernels::narrow_product_backward(data(x), data(state.folded), data(d_logits), n, k, 2 * heads, data(d_x_logits),
                                     data(d_folded), threads);
    d_x.add_(d_x_logits);
    const Tensor d_source_vectors = d_folded.slice(1, 0, heads).contiguous(),
                 d_target_vectors = d_folded.slice(1, heads).contiguous();
    Tensor d_source = empty(source.sizes()), d_target = empty(target.sizes());
    kernels::head_logits_backward(data(weight), data(source), data(target), data(d_source_vectors),
                                  data(d_target_vectors), k, d, heads, data(d_weight), data(d_source), data(d_target),
                                  threads);
    return {Tensor(),    Tensor(), d_x,      d_weight, d_source, d_target,
            d_positions, d_bias,   Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

std::pair<Tensor, Tensor> attend_targets(const EdgesPtr& edges, std::span<const int32_t> targets, const Tensor& x,
                                         const Tensor& weight, const Tensor& source, const Tensor& target,
                                         const Tensor& positions, const Tensor& bias, double slope,
                                         const kernels::Dropout& edge_dropout, Threads threads,
                                         const EdgeWeightsPtr& edge_weights) {
  const auto out = AttendTargetsOp::apply(edges, targets, x, weight, source, target, or_empty(positions), bias, slope,
                                          edge_dropout, threads, edge_weights);
  return {out[0], out[1]};
}

bool attend_targets_pays(const EdgeIndex& edges, std::span<const int32_t> targets, int64_t in, int64_t out,
                         int64_t heads) {
  int64_t into_targets = 0;
  for (const int32_t i : targets) into_targets += edges.offsets()[i + 1] - edges.offsets()[i];
  // A product gives about 5 multiplications in the time a byte takes from the third-level cache, and 2 in that of a
  // byte the blocked sums over all edges gather.
  const double saved = 3.0 * static_cast<double>(edges.num_nodes() - static_cast<int64_t>(targets.size())) *
                           static_cast<double>(in * out) +
                       2 * 4.0 * 3.0 * static_cast<double>(edges.num_edges() * out);
  const double spent = 5 * 4.0 * static_cast<double>(into_targets * in * (1 + heads));
  return spent < saved;
}

std::pair<Tensor, Tensor> head_logits(const Tensor& z, const Tensor& source, const Tensor& target, Threads threads) {
  const auto logits = HeadLogitsOp::apply(z, source, target, threads);
  return {logits[0], logits[1]};
}

Tensor edge_logits(const EdgesPtr& edges, const Tensor& source, const Tensor& target, const Tensor& positions,
                   Threads threads) {
  return EdgeLogitsOp::apply(edges, source, target, or_empty(positions), threads);
}

std::pair<Tensor, Tensor> attend(const EdgesPtr& edges, const Tensor& z, const Tensor& source, const Tensor& target,
                                 const Tensor& positions, const Tensor& bias, double slope,
                                 const kernels::Dropout& edge_dropout, const WorkspacePtr& workspace, Threads threads,
                                 const EdgeWeightsPtr& edge_weights) {
  const auto out = AttendOp::apply(edges, z, source, target, or_empty(positions), bias, slope, edge_dropout, workspace,
                                   threads, edge_weights);
  return {out[0], out[1]};
}

}  // namespace graphpae::ops
