#include "graphpae/ops/feature_ops.h"

#include "graphpae/kernels/dense_product.h"
#include "graphpae/kernels/token_product.h"
#include "graphpae/ops/op_state.h"

namespace graphpae::ops {
namespace {

struct ProductState {
  std::vector<int32_t> token_nodes;
  kernels::Dropout dropout;
  kernels::CorruptedRows rows;  // sparse features
  Tensor dense;                 // [N,F] dense features
  Threads threads;
};

struct CorruptedProductOp : torch::autograd::Function<CorruptedProductOp> {
  static Tensor forward(AutogradContext* context, const Features& features, const std::vector<int32_t>& shown,
                        const Tensor& token, const Tensor& weight, const kernels::Dropout& dropout, Threads threads) {
    const int64_t n = static_cast<int64_t>(shown.size()), f = weight.size(0), d = weight.size(1);
    ProductState state{{}, dropout, {}, {}, threads};
    for (int64_t i = 0; i < n; ++i) {
      if (shown[i] < 0) state.token_nodes.push_back(static_cast<int32_t>(i));
    }
    Tensor y = empty({n, d});
    if (features.is_sparse()) {
      kernels::build_corrupted_rows(features, shown, dropout, state.rows, threads);
      kernels::csr_product(state.rows, data(weight), d, data(y), threads);
    } else {
      state.dense = empty({n, f});
      kernels::build_corrupted_dense(features, shown, dropout, data(state.dense), threads);
      kernels::dense_product(kernels::plain(data(state.dense), f), kernels::plain(data(weight), d), n, d, f, data(y), d,
                             {}, threads);
    }
    kernels::token_product(data(token), state.token_nodes, dropout, data(weight), f, d, data(y), threads);
    context->save_for_backward({token, weight});
    keep(context, std::move(state));
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const ProductState& state = kept<ProductState>(context);
    const auto saved = context->get_saved_variables();
    const Tensor &token = saved[0], &weight = saved[1], d_y = gradients[0].contiguous();
    const int64_t n = d_y.size(0), f = weight.size(0), d = weight.size(1);
    Tensor d_weight = empty({f, d}), d_token = empty({f});
    if (state.dense.defined()) {
      kernels::dense_product(kernels::transposed(data(state.dense), f), kernels::plain(data(d_y), d), f, d, n,
                             data(d_weight), d, {}, state.threads);
    } else {
      kernels::csc_product(state.rows, data(d_y), d, data(d_weight), state.threads);
    }
    kernels::token_product_backward(data(token), state.token_nodes, state.dropout, data(weight), data(d_y), f, d,
                                    data(d_weight), data(d_token), state.threads);
    return {Tensor(), Tensor(), d_token, d_weight, Tensor(), Tensor()};
  }
};

struct ErrorState {
  Tensor d_h, d_weight, d_bias;
};

struct FeatureErrorOp : torch::autograd::Function<FeatureErrorOp> {
  static Tensor forward(AutogradContext* context, const Tensor& h, const Tensor& weight, const Tensor& bias,
                        const Features& features, const std::vector<int32_t>& nodes, FeatureErrorKind kind,
                        double gamma, kernels::ErrorWorkspace& workspace, Threads threads) {
    ErrorState state{empty(h.sizes()), empty(weight.sizes()), empty(bias.sizes())};
    const double error =
        kind == FeatureErrorKind::scaled_cosine
            ? kernels::cosine_error(data(h), h.size(1), data(weight), data(bias), features, nodes, gamma,
                                    data(state.d_h), data(state.d_weight), data(state.d_bias), workspace, threads)
            : kernels::squared_error(data(h), h.size(1), data(weight), data(bias), features, nodes, data(state.d_h),
                                     data(state.d_weight), data(state.d_bias), workspace, threads);
    keep(context, std::move(state));
    return torch::tensor(error, torch::kFloat32);
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    ErrorState& state = kept<ErrorState>(context);
    const float scale = gradients[0].item<float>();
    tensor_list out = {state.d_h, state.d_weight, state.d_bias};
    if (scale != 1.0f) {
      for (Tensor& gradient : out) gradient = gradient * scale;
    }
    for (int k = 0; k < 6; ++k) out.emplace_back();
    return out;
  }
};

}  // namespace

Tensor corrupted_product(const Features& features, const std::vector<int32_t>& shown, const Tensor& token,
                         const Tensor& weight, const kernels::Dropout& dropout, Threads threads) {
  return CorruptedProductOp::apply(features, shown, token, weight, dropout, threads);
}

Tensor feature_error(const Tensor& h, const Tensor& weight, const Tensor& bias, const Features& features,
                     const std::vector<int32_t>& nodes, FeatureErrorKind kind, double gamma,
                     kernels::ErrorWorkspace& workspace, Threads threads) {
  return FeatureErrorOp::apply(h, weight, bias, features, nodes, kind, gamma, workspace, threads);
}

}  // namespace graphpae::ops
