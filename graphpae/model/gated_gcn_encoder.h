// The molecule encoder: embedded atom and bond codes, L gated graph convolutions, each followed by batch norm.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>

#include "graphpae/model/encoder.h"
#include "graphpae/model/gated_gcn_layer.h"

namespace graphpae {

class GatedGcnEncoder : public Encoder {
 public:
  GatedGcnEncoder(const Settings& settings, const InputShape& shape, Initialiser& init);
  Encoding encode(const GraphInput& input, const Pass& pass) override;

 private:
  // The sum of one embedding per code. codes [R,A] -> [R,d]
  static torch::Tensor embed(const std::vector<torch::Tensor>& tables, const torch::Tensor& codes);

  Settings settings_;
  std::vector<torch::Tensor> atom_tables_, bond_tables_;  // each [values,d]
  std::vector<GatedGcnLayer> layers_;
  std::vector<torch::nn::BatchNorm1d> node_norms_, edge_norms_;
};

}  // namespace graphpae
