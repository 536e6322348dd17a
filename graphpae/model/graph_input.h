// GraphInput: what the model sees of a graph, or of a batch of molecules joined into one graph.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "graphpae/core/edge_index.h"
#include "graphpae/core/exchange.h"
#include "graphpae/core/features.h"
#include "graphpae/core/graph.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/aggregate.h"
#include "graphpae/kernels/cosine_error.h"
#include "graphpae/ops/kernels.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

// Directed edges as an index for kernels and as tensors for LibTorch.
struct MessageGraph {
  MessageGraph() = default;
  explicit MessageGraph(EdgeIndex edges);

  std::shared_ptr<const EdgeIndex> index = std::make_shared<const EdgeIndex>();
  torch::Tensor sources, targets;  // [E] int64
  // Weights of edges as attention sees them (model/relative_weights.h): [E], or null and undefined.
  std::shared_ptr<const std::vector<float>> weights;
  torch::Tensor log_weights;
  void set_weights(std::vector<float> of_edges);

  int64_t num_nodes() const { return index->num_nodes(); }
  int64_t num_edges() const { return index->num_edges(); }
};

// Node features X [N,F]. Fused operations read the matrix, sparse or not; the reference reads a dense tensor.
class NodeFeatures {
 public:
  NodeFeatures() = default;
  explicit NodeFeatures(torch::Tensor dense) : dense_(std::move(dense)) {}
  explicit NodeFeatures(std::shared_ptr<const Features> matrix) : matrix_(std::move(matrix)) {}

  int64_t columns() const { return matrix_ ? matrix_->columns() : dense_.size(1); }
  const Features* matrix() const { return matrix_.get(); }  // null if made from a tensor
  const torch::Tensor& dense() const;                       // [N,F], made from the matrix when first asked for

 private:
  std::shared_ptr<const Features> matrix_;
  mutable torch::Tensor dense_;
};

// Scratch of fused operations, kept between epochs.
struct FusedWorkspace {
  kernels::Workspace aggregate;
  kernels::ErrorWorkspace error;
};

// Rows of integer codes of which many are equal: the distinct ones, and which of them each row is.
struct CodedRows {
  torch::Tensor kinds;           // [U,A] int64, the distinct rows
  std::vector<int32_t> kind_of;  // [R] in 0 .. U-1

  int64_t rows() const { return static_cast<int64_t>(kind_of.size()); }
  torch::Tensor dense() const;  // [R,A] int64
};
// codes [R,A] int64. Kinds are numbered as they appear.
CodedRows coded_rows(const torch::Tensor& codes);

struct GraphInput {
  MessageGraph graph;                  // with one self loop per node for GAT, without for GatedGCN
  NodeFeatures features;               // [N,F], GAT; GatedGCN: the atom types, one-hot
  CodedRows atoms;                     // [N,A] codes, GatedGCN
  CodedRows bonds;                     // [E,B] codes in the order of the edges, GatedGCN
  std::vector<int64_t> graph_offsets;  // [G+1] the nodes of molecule g: graph_offsets[g] .. [g+1], GatedGCN
  torch::Tensor positions;             // [N,K] float64, rows U_i; undefined without positions
  torch::Tensor distances;             // [E] P_ij = ||U_i - U_j||, Eq. (3)
  // A sample of a larger graph for L layers, nodes numbered by their hops from the seeds: layer l reads the nodes of
  // layers[l] and makes those of layers[l+1], the last layer makes the seeds. The edges of a layer are the first ones
  // of the layer before. Empty: `graph` in every layer; otherwise `graph` is layers[0].
  std::vector<MessageGraph> layers;
  int64_t seeds = 0;
  // If the batch is divided among processes: this is the part of one of them.
  std::shared_ptr<Exchange> exchange;
  Threads threads;  // for fused operations
  Kernels kernels = Kernels::reference;
  std::shared_ptr<FusedWorkspace> workspace = std::make_shared<FusedWorkspace>();

  // Whether fused operations run: asked for, and the numbers are float32.
  bool fused() const { return kernels == Kernels::fused && features.matrix() != nullptr; }
  bool is_molecules() const { return !graph_offsets.empty(); }
  bool is_sample() const { return !layers.empty(); }
  const MessageGraph& layer_graph(size_t layer) const { return is_sample() ? layers[layer] : graph; }
  const MessageGraph& last_graph() const { return is_sample() ? layers.back() : graph; }
  // Nodes that a layer makes.
  int64_t rows_after(size_t layer) const {
    if (!is_sample()) return num_nodes();
    return layer + 1 < layers.size() ? layers[layer + 1].num_nodes() : seeds;
  }
  // Nodes that may be masked, the first ones.
  int64_t num_seeds() const { return is_sample() ? seeds : num_nodes(); }
  int64_t num_nodes() const { return graph.num_nodes(); }
  int64_t num_molecules() const { return static_cast<int64_t>(graph_offsets.size()) - 1; }
  torch::Tensor node_scale(torch::Dtype type) const;  // [N,1] 1/sqrt(nodes of its molecule), GatedGCN
};

// What a node with a hidden feature row shows instead of a row of X.
inline constexpr int32_t kMaskToken = -1;

struct Masking {
  std::vector<int32_t> masked;   // [M] distinct nodes, the set V~
  std::vector<int32_t> shown;    // [N] the row of X a node shows, or kMaskToken; i itself if it is not masked
  torch::Tensor masked_indices;  // [M] int64, as `masked`
};

// All masked nodes show the token.
Masking mask_nodes(int64_t num_nodes, std::vector<int32_t> masked);

// The same among more nodes, which show themselves.
void widen(Masking& masking, int64_t num_nodes);

// Numbers first .. first + count - 1.
std::vector<int32_t> row_range(int64_t first, int64_t count);

// The first rows of a tensor; itself if it has no more.
torch::Tensor first_rows(const torch::Tensor& x, int64_t count);

// P_ij of all edges, in the precision of `type`. positions [N,K] float64 -> [E]
torch::Tensor edge_distances(const MessageGraph& graph, const torch::Tensor& positions, torch::Dtype type,
                             Threads threads);

}  // namespace graphpae
