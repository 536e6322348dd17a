#include "graphpae/ops/dense_ops.h"

#include "graphpae/kernels/dense_product.h"
#include "graphpae/kernels/narrow_product.h"
#include "graphpae/kernels/row_ops.h"
#include "graphpae/ops/op_state.h"

namespace graphpae::ops {
namespace {

struct LinearOp : torch::autograd::Function<LinearOp> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        Threads threads) {
    keep(context, threads);
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = is_there(bias);
    const int64_t n = x.size(0), k = x.size(1), d = weight.size(1);
    Tensor y = empty({n, d});
    kernels::dense_product(kernels::plain(data(x), k), kernels::plain(data(weight), d), n, d, k, data(y), d,
                           {.bias = data_or_null(bias)}, threads);
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const Threads threads = kept<Threads>(context);
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], d_y = gradients[0].contiguous();
    const int64_t n = x.size(0), k = x.size(1), d = weight.size(1);
    Tensor d_x, d_weight = empty({k, d}), d_bias;
    if (context->needs_input_grad(0)) {
      d_x = empty({n, k});
      kernels::dense_product(kernels::plain(data(d_y), d), kernels::transposed(data(weight), d), n, k, d, data(d_x), k,
                             {}, threads);
    }
    kernels::dense_product(kernels::transposed(data(x), k), kernels::plain(data(d_y), d), k, d, n, data(d_weight), d,
                           {}, threads);
    if (context->saved_data["bias"].toBool()) {
      d_bias = empty({d});
      kernels::column_sums(data(d_y), n, d, data(d_bias), threads);
    }
    return {d_x, d_weight, d_bias, Tensor()};
  }
};

struct NarrowLinearOp : torch::autograd::Function<NarrowLinearOp> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, Threads threads) {
    keep(context, threads);
    context->save_for_backward({x, weight});
    Tensor y = empty({x.size(0), weight.size(1)});
    kernels::narrow_product(data(x), data(weight), x.size(0), x.size(1), weight.size(1), data(y), threads);
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], d_y = gradients[0].contiguous();
    Tensor d_x = empty(x.sizes()), d_weight = empty(weight.sizes());
    kernels::narrow_product_backward(data(x), data(weight), data(d_y), x.size(0), x.size(1), weight.size(1), data(d_x),
                                     data(d_weight), kept<Threads>(context));
    return {d_x, d_weight, Tensor()};
  }
};

struct DropoutState {
  kernels::Dropout dropout;
  Threads threads;
};

struct EluDropoutOp : torch::autograd::Function<EluDropoutOp> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const kernels::Dropout& dropout, Threads threads) {
    keep(context, DropoutState{dropout, threads});
    Tensor y = empty(x.sizes());
    kernels::elu_dropout(data(x), x.size(0), x.size(1), dropout, data(y), threads);
    context->save_for_backward({y});
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto [dropout, threads] = kept<DropoutState>(context);
    const Tensor y = context->get_saved_variables()[0], d_y = gradients[0].contiguous();
    Tensor d_x = empty(y.sizes());
    kernels::elu_dropout_backward(data(y), data(d_y), y.size(0), y.size(1), dropout, data(d_x), threads);
    return {d_x, Tensor(), Tensor()};
  }
};

struct PreluDropoutOp : torch::autograd::Function<PreluDropoutOp> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& slope, const kernels::Dropout& dropout,
                        Threads threads) {
    keep(context, DropoutState{dropout, threads});
    Tensor y = empty(x.sizes());
    kernels::prelu_dropout(data(x), *data(slope), x.size(0), x.size(1), dropout, data(y), threads);
    context->save_for_backward({x, slope});
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto [dropout, threads] = kept<DropoutState>(context);
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &slope = saved[1], d_y = gradients[0].contiguous();
    Tensor d_x = empty(x.sizes());
    const float d_slope = kernels::prelu_dropout_backward(data(x), *data(slope), data(d_y), x.size(0), x.size(1),
                                                          dropout, data(d_x), threads);
    return {d_x, torch::full({1}, d_slope), Tensor(), Tensor()};
  }
};

struct GatherState {
  std::vector<int32_t> rows;
  int64_t n;
  Threads threads;
};

struct GatherRowsOp : torch::autograd::Function<GatherRowsOp> {
  static Tensor forward(AutogradContext* context, const Tensor& x, std::vector<int32_t> rows, Threads threads) {
    const int64_t count = static_cast<int64_t>(rows.size());
    Tensor y = empty({count, x.size(1)});
    kernels::gather_rows(data(x), rows.data(), count, x.size(1), data(y), threads);
    keep(context, GatherState{std::move(rows), x.size(0), threads});
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto& [rows, n, threads] = kept<GatherState>(context);
    const Tensor d_y = gradients[0].contiguous();
    Tensor d_x = empty({n, d_y.size(1)});
    kernels::scatter_rows(data(d_y), rows.data(), d_y.size(0), n, d_y.size(1), data(d_x), threads);
    return {d_x, Tensor(), Tensor()};
  }
};

struct NormState {
  kernels::NormActivation activation;
  Tensor mean, inverse_deviation;  // [M]
  Threads threads;
};

struct ActivationNormOp : torch::autograd::Function<ActivationNormOp> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        kernels::NormActivation activation, Threads threads) {
    NormState state{activation, empty({x.size(0)}), empty({x.size(0)}), threads};
    Tensor y = empty(x.sizes());
    kernels::activation_norm(activation, data(x), data(weight), data(bias), x.size(0), x.size(1), data(y),
                             data(state.mean), data(state.inverse_deviation), threads);
    context->save_for_backward({x, weight});
    keep(context, std::move(state));
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const NormState& state = kept<NormState>(context);
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1], d_y = gradients[0].contiguous();
    Tensor d_x = empty(x.sizes()), d_weight = empty(weight.sizes()), d_bias = empty(weight.sizes());
    kernels::activation_norm_backward(state.activation, data(x), data(weight), data(state.mean),
                                      data(state.inverse_deviation), data(d_y), x.size(0), x.size(1), data(d_x),
                                      data(d_weight), data(d_bias), state.threads);
    return {d_x, d_weight, d_bias, Tensor(), Tensor()};
  }
};

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Threads threads) {
  return LinearOp::apply(x, weight, or_empty(bias), threads);
}

Tensor narrow_linear(const Tensor& x, const Tensor& weight, Threads threads) {
  return NarrowLinearOp::apply(x, weight, threads);
}

Tensor elu_dropout(const Tensor& x, const kernels::Dropout& dropout, Threads threads) {
  return EluDropoutOp::apply(x, dropout, threads);
}

Tensor prelu_dropout(const Tensor& x, const Tensor& slope, const kernels::Dropout& dropout, Threads threads) {
  return PreluDropoutOp::apply(x, slope, dropout, threads);
}

Tensor gather_rows(const Tensor& x, std::vector<int32_t> rows, Threads threads) {
  return GatherRowsOp::apply(x, std::move(rows), threads);
}

Tensor activation_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, kernels::NormActivation activation,
                       Threads threads) {
  return ActivationNormOp::apply(x, weight, bias, activation, threads);
}

}  // namespace graphpae::ops
