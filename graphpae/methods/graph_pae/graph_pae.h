// START HERE. GraphPAE: a graph positional autoencoder (Section 4, Algorithm 1).
//
// A graph passes twice through one encoder: once with hidden node features and true positions, once with true features
// and shaken positions. The feature decoder puts the features of masked nodes back, the position decoder the distances
// of masked nodes to their neighbours.
//
//   corrupt.h                   which nodes, what they show, how far they are shaken   Section 4.1
//   model/distance_embedding.h  distances as Gaussian basis functions                  Eq. (5)
//   model/gat_layer.h           attention that mixes features and positions            Eq. (7) to (10)
//   model/gated_gcn_layer.h     the same for molecules
//   model/encoder.h             layers in sequence
//   decoders.h                  reconstruction                                         Eq. (11) to (17)
#pragma once

#include <functional>

#include "graphpae/methods/graph_pae/corrupt.h"
#include "graphpae/methods/graph_pae/decoders.h"
#include "graphpae/methods/method.h"

namespace graphpae {

struct Losses {
  torch::Tensor feature;   // scalar L_feat; undefined if not reconstructed
  torch::Tensor position;  // scalar L_pos; undefined if not reconstructed
  torch::Tensor total;     // L_feat + alpha L_pos, Eq. (17)
};

// How one process of several takes part in a step.
struct LearnShare {
  double feature = 1, position = 1;  // of the losses of its part in those of the batch
  // Called before the last backward pass; `decoded`: the feature decoder has its gradients already.
  std::function<void(bool decoded)> before_last_pass;
};

class GraphPae final : public Method {
 public:
  // Parameters are drawn from settings.seed.
  GraphPae(const Settings& settings, const InputShape& shape);

  std::vector<std::string> terms() const override { return {"loss", "loss_feature", "loss_position"}; }
  // Draws the corruption of the step. Empty if it masks no node.
  std::vector<double> learn(const GraphInput& input, const LearningStep& step) override;

  // One step's losses. The same (input, corruption, dropout_key) gives the same losses. With a share, `total` is what
  // it adds to that of the batch.
  Losses losses(const GraphInput& input, const Corruption& corruption, uint64_t dropout_key = 0,
                const LearnShare& share = {});

  // The same, and the gradients of `total` are added to those of the parameters, unless a loss is not finite. The two
  // passes of molecules are made one after the other, so that only one is in memory; the bits are the same. With
  // `before_last_pass`, gradients are added also if a loss is not finite.
  Losses learn(const GraphInput& input, const Corruption& corruption, uint64_t dropout_key = 0,
               const LearnShare& share = {});

  // How often L_pos counts a pair: by this the losses of parts are weighted.
  double position_weight(const GraphInput& input, const Corruption& corruption) const;

  // The parts, for those who want to look inside.
  struct Encodings {
    Encoding feature_pass, position_pass;  // the same one if there is a single pass
  };
  // `only_masked`: the feature pass may leave out the last layer of nodes that are not masked.
  Encodings encode(const GraphInput& input, const Corruption& corruption, uint64_t dropout_key = 0,
                   bool only_masked = false);
  torch::Tensor decode_features(const torch::Tensor& nodes, const Corruption& corruption);  // [M,F]
  torch::Tensor decode_distances(const GraphInput& input, const torch::Tensor& refined);    // [pairs]

  Decoder feature_decoder{nullptr}, position_decoder{nullptr};  // empty if nothing is reconstructed

 private:
  // What is masked in the whole batch, and the part of it that `input` is.
  struct DrawnCorruption {
    int64_t masked;
    Corruption part;
  };
  DrawnCorruption draw(const GraphInput& input, const LearningStep& step) const;
  std::vector<double> learn_together(const GraphInput& input, const DrawnCorruption& corruption, uint64_t dropout_key,
                                     const LearningStep& step);

  bool needs_shaken() const;
  DistanceEmbeddingImpl::Pair embed_distances(const GraphInput& input, const Corruption& corruption);
  Encoding encode_features(const GraphInput& input, const Corruption& corruption,
                           const DistanceEmbeddingImpl::Pair& embedded, uint64_t dropout_key, bool only_masked);
  Encoding encode_positions(const GraphInput& input, const DistanceEmbeddingImpl::Pair& embedded, uint64_t dropout_key);
  torch::Tensor feature_loss(const GraphInput& input, const Corruption& corruption, const Encoding& encoding);
  torch::Tensor position_loss(const GraphInput& input, const Corruption& corruption, const torch::Tensor& refined);
  torch::Tensor wide_position_loss(const GraphInput& input, const Corruption& corruption, const torch::Tensor& refined);
};

}  // namespace graphpae
