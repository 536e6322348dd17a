#include "graphpae/ops/attention_ops.h"

#include "graphpae/kernels/attention.h"
#include "graphpae/kernels/row_ops.h"
#include "graphpae/ops/op_state.h"

namespace graphpae::ops {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

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
    const Tensor d_source_logits = or_zeros(gradients[0], {n, heads}), d_target_logits = or_zeros(gradients[1], {n, heads});
    Tensor d_z = torch::zeros(z.sizes(), torch::kFloat32), d_source = empty(source.sizes()), d_target = empty(target.sizes());
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
    kernels::edge_logits_forward(*edges, heads, data(source), data(target), data(shifts), data(refined), threads);
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
                             const kernels::Dropout& dropout, const WorkspacePtr& workspace, Threads threads) {
    const int64_t n = z.size(0), d = z.size(1), heads = source.size(0), edge_count = edges->num_edges();
    Tensor source_logits = empty({n, heads}), target_logits = empty({n, heads});
    kernels::head_logits(data(z), data(source), data(target), n, d, heads, data(source_logits), data(target_logits),
                         threads);
    AttendState state{edges, workspace, slope, dropout, is_there(positions), empty({edge_count, heads}), {}, threads};
    const Tensor shifts = positions_or_zeros(positions, edges, heads);
    Tensor refined = empty({edge_count, heads}), nodes = empty({n, d});
    kernels::attention_forward(*edges, heads, static_cast<float>(slope), data(source_logits), data(target_logits),
                               data(shifts), data(refined), data(state.alpha), threads);
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
    return {Tensor(), d_z,      d_source, d_target, state.has_positions ? d_weights : Tensor(),
            d_bias,   Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

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
                                 const kernels::Dropout& edge_dropout, const WorkspacePtr& workspace, Threads threads) {
  const auto out = AttendOp::apply(edges, z, source, target, or_empty(positions), bias, slope, edge_dropout, workspace,
                                   threads);
  return {out[0], out[1]};
}

}  // namespace graphpae::ops
