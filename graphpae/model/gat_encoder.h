// The node encoder: L GAT layers with an activation between them and dropout before each.
#pragma once

#include <torch/nn/module.h>

#include "graphpae/model/encoder.h"
#include "graphpae/model/gat_layer.h"

namespace graphpae {

class GatEncoder : public Encoder {
 public:
  GatEncoder(const Settings& settings, int64_t feature_count, Initialiser& init);
  Encoding encode(const GraphInput& input, const Pass& pass) override;

  const std::vector<GatLayer>& layers() const { return layers_; }
  // Whether there is an activation after a layer, and what it makes of the layer's rows.
  bool activates(size_t layer) const { return layer + 1 < layers_.size() || settings_.output_activation; }
  torch::Tensor activated(const torch::Tensor& x, size_t layer) const;

  torch::Tensor mask_token;  // [F] x_[M]

 private:
  torch::Tensor shown_features(const GraphInput& input, const Pass& pass) const;  // [N,F] X or X~
  torch::Tensor project_features(const GraphInput& input, const Pass& pass, const torch::Tensor& weight,
                                 const kernels::Dropout& dropped) const;  // [N,D]
  torch::Tensor between_layers(const GraphInput& input, const torch::Tensor& x, size_t layer,
                               const kernels::Dropout& dropped) const;
  Encoding encode_layers(const GraphInput& input, const Pass& pass);

  Settings settings_;
  Linear lift_in_{nullptr}, lift_out_{nullptr};  // setting feature_mlp
  std::vector<GatLayer> layers_;
  std::vector<torch::Tensor> slopes_;  // [layers] each [1], activation prelu
};

}  // namespace graphpae
