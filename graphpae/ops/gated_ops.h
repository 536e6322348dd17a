// Fused operations of the molecule encoder, with gradients. All tensors are float32 and contiguous. The plain twins are
// GatedGcnLayer's and GatedGcnEncoder's reference forms.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "graphpae/core/exchange.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"
#include "graphpae/ops/attention_ops.h"

namespace graphpae::ops {

// Sums of embeddings. tables [T,D] one below the other, rows [R,A] int64 rows of them -> [R,D].
//   tables.index_select(0, rows.flatten()).view({R, A, D}).sum(1)
torch::Tensor sum_embeddings(const torch::Tensor& tables, const torch::Tensor& rows, Threads threads);

// A batch of molecules.
struct GatedBatch {
  EdgesPtr edges;
  std::shared_ptr<const std::vector<int64_t>> blocks;  // [G+1] nodes of each molecule
  torch::Tensor node_scale;                            // [N]
  Threads threads;
};

// Makes rows again that are not kept: they are large, and quicker made than the memory for all of them is found.
using Remake = std::function<torch::Tensor()>;

// States that come into a layer, with maps where rows are shared.
struct GatedStates {
  torch::Tensor nodes, edges, positions;  // [.,K], [.,K], [.,D]; positions may be undefined
  RowMap node_rows, edge_rows, position_rows;
  // Roughly the share of elements that are not zero. Where it is small, elements that are zero get no gradients: they
  // come from ReLU and dropout, which pass none on.
  double node_density = 1, edge_density = 1;
  // If not empty, nodes and edges are not kept for the backward pass but made again.
  Remake nodes_again, edges_again;
};

// node_weight [K,4D] and node_bias [4D]: A1, A2, B1, B2 side by side; edge_weight [K,D] and edge_bias [D]: B3.
struct GatedParameters {
  torch::Tensor node_weight, node_bias, edge_weight, edge_bias;
};

struct GatedWants {
  bool hat = true;                    // the edge states handed on
  bool refined = true;                // the refined positions
  kernels::Dropout position_dropout;  // of the refined positions
};

struct GatedOutput {
  torch::Tensor nodes;    // [N,D] before normalisation
  torch::Tensor hat;      // [E,D]
  torch::Tensor refined;  // [E,D] after dropout
};

// One gated graph convolution, dense products included (kernels/gated_conv.h).
GatedOutput gated_layer(const GatedBatch& batch, const GatedStates& states, const GatedParameters& parameters,
                        const GatedWants& wants);

// Batch normalisation, ReLU if asked for, dropout: x [R,D], all others [D] -> [R,D]. In training the running moments
// move.   dropout(relu(batch_norm(x)))
// With an exchange, moments in training are those of the rows of all processes, as if they were in one.
struct NormParameters {
  torch::Tensor weight, bias, running_mean, running_var;
};
// `again`, unless null, receives what makes the same rows from x.
torch::Tensor batch_norm(const torch::Tensor& x, const NormParameters& parameters, bool training, bool relu,
                         const kernels::Dropout& dropout, Threads threads, Remake* again = nullptr,
                         Exchange* exchange = nullptr);

// The running moments alone move, as by batch_norm in training.
void track_moments(const torch::Tensor& x, const NormParameters& parameters, Threads threads,
                   Exchange* exchange = nullptr);

// x [n] float64 added up over all processes, and so are gradients.
torch::Tensor sum_over_processes(const torch::Tensor& x, Exchange& exchange);

}  // namespace graphpae::ops
