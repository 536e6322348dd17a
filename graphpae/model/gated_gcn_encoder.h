// The molecule encoder: embedded atom and bond codes, L gated graph convolutions, each followed by batch norm.
#pragma once

#include <torch/nn/module.h>

#include "graphpae/model/encoder.h"
#include "graphpae/model/gated_gcn_layer.h"

namespace graphpae {

class GatedGcnEncoder : public Encoder {
 public:
  GatedGcnEncoder(const Settings& settings, const InputShape& shape, Initialiser& init);
  Encoding encode(const GraphInput& input, const Pass& pass) override;

 private:
  Encoding encode_fused(const GraphInput& input, const Pass& pass);
  Encoding encode_plain(const GraphInput& input, const Pass& pass);

  int64_t mask_token() const { return atom_tables_[0].size(0) - 1; }  // an atom type beyond the real ones
  CodedRows with_token(const CodedRows& atoms, const std::vector<int32_t>& masked) const;

  Settings settings_;
  std::vector<torch::Tensor> atom_tables_, bond_tables_;  // each [values,d]
  std::vector<GatedGcnLayer> layers_;
  std::vector<BatchNorm> node_norms_, edge_norms_;
};

}  // namespace graphpae
