#include "graphpae/train/representations.h"

#include <torch/torch.h>

namespace graphpae {

Features features_of(const torch::Tensor& rows) {
  const torch::Tensor values = rows.detach().to(torch::kFloat32).contiguous();
  const float* data = values.data_ptr<float>();
  return Features::dense(values.size(0), values.size(1), Buffer<float>(data, data + values.numel()));
}

Features embedded_rows(GraphPae& model, const GraphInput& input) {
  model.eval();
  return features_of(model.embed(input));
}

Features untrained_rows(const GraphPae& model, const GraphInput& input) {
  const auto untrained = std::make_shared<GraphPae>(model.settings(), model.input_shape());
  return embedded_rows(*untrained, input);
}

Features raw_feature_rows(const Graph& graph, const Settings& settings) {
  return settings.row_normalize ? row_normalised(graph.features()) : graph.features();
}

Features raw_position_rows(const Graph& graph, const Settings& settings, const GraphInput& input,
                           const InputOptions& options) {
  // A model without positions is compared with those it does not use.
  return features_of(input.positions.defined() ? input.positions : make_positions(graph, settings, options));
}

}  // namespace graphpae
