// The node encoder: L GAT layers with an activation between them and dropout before each.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>

#include "graphpae/model/encoder.h"
#include "graphpae/model/gat_layer.h"

namespace graphpae {

class GatEncoder : public Encoder {
 public:
  GatEncoder(const Settings& settings, int64_t feature_count, Initialiser& init);
  Encoding encode(const GraphInput& input, const Pass& pass) override;

  const std::vector<GatLayer>& layers() const { return layers_; }
  torch::Tensor between(const torch::Tensor& x) const;  // the activation between layers

  torch::Tensor mask_token;  // [F] x_[M]

 private:
  torch::Tensor shown_features(const GraphInput& input, const Pass& pass) const;  // [N,F] X or X~
  torch::Tensor project_features(const GraphInput& input, const Pass& pass, const torch::Tensor& weight,
                                 const kernels::Dropout& dropped) const;  // [N,D]
  torch::Tensor between_layers(const GraphInput& input, const torch::Tensor& x, const kernels::Dropout& dropped) const;

  Settings settings_;
  Linear lift_in_{nullptr}, lift_out_{nullptr};  // setting feature_mlp
  std::vector<GatLayer> layers_;
};

}  // namespace graphpae
