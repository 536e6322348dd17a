#include "graphpae/methods/graph_pae/graph_pae.h"

#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "graphpae/ops/dense_ops.h"
#include "graphpae/ops/feature_ops.h"
#include "graphpae/ops/position_ops.h"
#include "graphpae/settings/streams.h"

namespace graphpae {
namespace {

constexpr int64_t kPositionDecoderWidth = 128;

enum PassKey : uint64_t { kFeaturePass = 0, kPositionPass = 1 };

uint64_t key_of(uint64_t dropout_key, PassKey pass) { return Rng(dropout_key).bits(pass); }

}  // namespace

GraphPae::GraphPae(const Settings& settings, const InputShape& shape) : Method(settings, shape) {
  const bool gat = settings.encoder == EncoderKind::gat;
  const int64_t d = settings.width;
  // Molecules: the type of a masked atom is the target, the mask token is not a type.
  const int64_t features = gat ? shape.features : shape.atom_codes.at(0) - 1;
  if (settings.reconstruct_features)
    feature_decoder = register_module("feature_decoder", Decoder(settings, d, d, features, init_));
  if (settings.use_positions && settings.reconstruct_positions) {
    const int64_t width = gat ? settings.heads : d;
    position_decoder = register_module("position_decoder", Decoder(settings, width, kPositionDecoderWidth, 1, init_));
  }
}

bool GraphPae::needs_shaken() const {
  return settings_.use_positions && settings_.corrupt_positions &&
         (!settings_.dual_path || !position_decoder.is_empty());
}

DistanceEmbeddingImpl::Pair GraphPae::embed_distances(const GraphInput& input, const Corruption& corruption) {
  if (!settings_.use_positions) return {};
  return encoder->distance->embed(input, input.distances,
                                  needs_shaken() ? corrupted_distances(input, corruption) : torch::Tensor());
}

// The feature pass, or the single one.
Encoding GraphPae::encode_features(const GraphInput& input, const Corruption& corruption,
                                   const DistanceEmbeddingImpl::Pair& embedded, uint64_t dropout_key,
                                   bool only_masked) {
  const bool single = !settings_.dual_path;
  Pass pass;
  pass.training = is_training();
  pass.dropout_key = key_of(dropout_key, kFeaturePass);
  pass.hidden = settings_.corrupt_features ? &corruption : nullptr;
  pass.positions = single && needs_shaken() ? embedded.corrupted : embedded.clean;
  pass.wants_nodes = !feature_decoder.is_empty();
  pass.wants_positions = single && !position_decoder.is_empty();
  pass.wanted = only_masked ? &corruption.masked : nullptr;
  return encoder->encode(input, pass);
}

Encoding GraphPae::encode_positions(const GraphInput& input, const DistanceEmbeddingImpl::Pair& embedded,
                                    uint64_t dropout_key) {
  Pass pass;
  pass.training = is_training();
  pass.dropout_key = key_of(dropout_key, kPositionPass);
  pass.positions = needs_shaken() ? embedded.corrupted : embedded.clean;
  pass.wants_nodes = false;
  return encoder->encode(input, pass);
}

GraphPae::Encodings GraphPae::encode(const GraphInput& input, const Corruption& corruption, uint64_t dropout_key,
                                     bool only_masked) {
  const DistanceEmbeddingImpl::Pair embedded = embed_distances(input, corruption);
  Encodings encodings;
  if (!feature_decoder.is_empty() || !settings_.dual_path)
    encodings.feature_pass = encode_features(input, corruption, embedded, dropout_key, only_masked);
  if (!settings_.dual_path) {
    encodings.position_pass = encodings.feature_pass;
  } else if (!position_decoder.is_empty()) {
    encodings.position_pass = encode_positions(input, embedded, dropout_key);
  }
  return encodings;
}

torch::Tensor GraphPae::decode_features(const torch::Tensor& nodes, const Corruption& corruption) {
  return feature_decoder(nodes.index_select(0, corruption.masked_indices));
}

torch::Tensor GraphPae::decode_distances(const GraphInput& input, const torch::Tensor& refined) {
  return decode_pairs(position_decoder, input.last_graph(), refined);
}

torch::Tensor GraphPae::feature_loss(const GraphInput& input, const Corruption& corruption, const Encoding& encoding) {
  if (corruption.masked.empty()) return encoding.nodes.sum() * 0;  // in a part of a batch
  const bool cosine = settings_.feature_loss == FeatureLoss::sce;
  if (input.fused()) {
    DecoderImpl& decoder = *feature_decoder;
    const torch::Tensor masked =
        encoding.only_wanted ? encoding.nodes : ops::gather_rows(encoding.nodes, corruption.masked, input.threads);
    const torch::Tensor dense = ops::linear(masked, decoder.dense->weight, decoder.dense->bias, input.threads);
    return ops::feature_error(decoder.hidden(dense, input.threads), decoder.out->weight, decoder.out->bias,
                              *input.features.matrix(), corruption.masked,
                              cosine ? ops::FeatureErrorKind::scaled_cosine : ops::FeatureErrorKind::squared,
                              settings_.gamma, input.workspace->error, input.threads);
  }
  const torch::Tensor predicted = decode_features(encoding.nodes, corruption),
                      target = input.features.dense().index_select(0, corruption.masked_indices);
  return cosine ? scaled_cosine_error(predicted, target, settings_.gamma) : (predicted - target).square().mean();
}

torch::Tensor GraphPae::position_loss(const GraphInput& input, const Corruption& corruption,
                                      const torch::Tensor& refined) {
  DecoderImpl& decoder = *position_decoder;
  if (input.is_molecules() && input.fused()) return wide_position_loss(input, corruption, refined);
  const MessageGraph& graph = input.last_graph();
  const torch::Tensor distances = first_rows(input.distances, graph.num_edges());
  if (input.fused() && decoder.activation() == Activation::gelu && !decoder.norm.is_empty()) {
    return ops::position_error(graph.index, refined, distances, corruption.masked,
                               {decoder.dense->weight, decoder.dense->bias, decoder.norm->weight, decoder.norm->bias,
                                decoder.out->weight, decoder.out->bias},
                               input.threads);
  }
  return distance_loss(graph, decode_distances(input, refined), distances, corruption.masked_indices);
}

// Wide positions: the decoder as dense products, of the pairs that count only.
torch::Tensor GraphPae::wide_position_loss(const GraphInput& input, const Corruption& corruption,
                                           const torch::Tensor& refined) {
  DecoderImpl& decoder = *position_decoder;
  const EdgeIndex& index = *input.graph.index;
  const ops::CountedPairs counted = ops::counted_pairs(index, input.distances, corruption.masked);
  if (counted.pairs.empty()) return refined.sum() * 0;
  std::vector<int32_t> edges;  // forward ones, then backward ones
  for (const auto& direction : {index.pair_forward(), index.pair_backward()}) {
    for (const int32_t pair : counted.pairs) edges.push_back(direction[pair]);
  }
  const torch::Tensor both = ops::gather_rows(refined, std::move(edges), input.threads);  // [2Q,d]
  const torch::Tensor hidden =
      decoder.hidden(ops::linear(both, decoder.dense->weight, decoder.dense->bias, input.threads), input.threads);
  const torch::Tensor decoded = ops::narrow_linear(hidden, decoder.out->weight.t().contiguous(), input.threads);
  const torch::Tensor predicted = decoded.view({2, -1}).mean(0) + decoder.out->bias;  // [Q]
  const torch::Tensor weights = torch::tensor(counted.weights), distances = torch::tensor(counted.distances);
  return (torch::smooth_l1_loss(predicted, distances, torch::Reduction::None) * weights).sum() / weights.sum();
}

Losses GraphPae::losses(const GraphInput& input, const Corruption& corruption, uint64_t dropout_key,
                        const LearnShare& share) {
  const Encodings encodings = encode(input, corruption, dropout_key, input.fused());
  Losses losses;
  if (!feature_decoder.is_empty()) {
    losses.feature = feature_loss(input, corruption, encodings.feature_pass);
    losses.total = share.feature * losses.feature;
  }
  if (!position_decoder.is_empty()) {
    losses.position = position_loss(input, corruption, encodings.position_pass.positions);
    const torch::Tensor weighted = settings_.alpha * share.position * losses.position;
    losses.total = losses.total.defined() ? losses.total + weighted : weighted;
  }
  return losses;
}

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double number(const torch::Tensor& scalar) { return scalar.defined() ? scalar.item<double>() : kNone; }

// Tensors on which the graphs of two losses stand. The graphs see copies without history, where gradients gather, so
// that each loss can be followed back by itself.
class GradientStops {
 public:
  torch::Tensor stop(const torch::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    for (size_t k = 0; k < tensors_.size(); ++k) {
      if (tensors_[k].is_same(tensor)) return stops_[k];
    }
    tensors_.push_back(tensor);
    stops_.push_back(tensor.detach().requires_grad_());
    return stops_.back();
  }
  // From where they gathered on.
  void go_on() {
    std::vector<torch::Tensor> tensors, gradients;
    for (size_t k = 0; k < tensors_.size(); ++k) {
      if (!stops_[k].grad().defined()) continue;
      tensors.push_back(tensors_[k]);
      gradients.push_back(stops_[k].grad());
    }
    if (!tensors.empty()) torch::autograd::backward(tensors, gradients);
  }

 private:
  std::vector<torch::Tensor> tensors_, stops_;
};

}  // namespace

double GraphPae::position_weight(const GraphInput& input, const Corruption& corruption) const {
  if (position_decoder.is_empty()) return 0;
  const MessageGraph& graph = input.last_graph();
  const auto counted =
      ops::counted_pairs(*graph.index, first_rows(input.distances, graph.num_edges()), corruption.masked);
  return std::accumulate(counted.weights.begin(), counted.weights.end(), 0.0);
}

Losses GraphPae::learn(const GraphInput& input, const Corruption& corruption, uint64_t dropout_key,
                       const LearnShare& share) {
  const bool two = settings_.dual_path && !feature_decoder.is_empty() && !position_decoder.is_empty();
  const bool apart_passes = two && (input.is_molecules() || input.is_sample());
  const auto go_back = [&](const torch::Tensor& loss) {
    if (share.before_last_pass || std::isfinite(loss.item<double>())) loss.backward();
  };
  const auto last_pass = [&](const torch::Tensor& loss) {
    if (share.before_last_pass) share.before_last_pass(apart_passes);
    go_back(loss);
  };
  if (!apart_passes) {
    const Losses all = losses(input, corruption, dropout_key, share);
    last_pass(all.total);
    return all;
  }
  DistanceEmbeddingImpl::Pair embedded = embed_distances(input, corruption);
  GradientStops stops;
  embedded.clean.rows = stops.stop(embedded.clean.rows);
  embedded.corrupted.rows = stops.stop(embedded.corrupted.rows);
  Losses apart;
  {
    const torch::Tensor loss =
        feature_loss(input, corruption, encode_features(input, corruption, embedded, dropout_key, input.fused()));
    go_back(share.feature * loss);
    apart.feature = loss.detach();
  }
  {
    const torch::Tensor loss =
        position_loss(input, corruption, encode_positions(input, embedded, dropout_key).positions);
    last_pass(settings_.alpha * share.position * loss);
    apart.position = loss.detach();
  }
  stops.go_on();
  apart.total = apart.feature + settings_.alpha * apart.position;
  return apart;
}

GraphPae::DrawnCorruption GraphPae::draw(const GraphInput& input, const LearningStep& step) const {
  const int64_t k = settings_.use_positions ? input.positions.size(1) : 0, count = input.num_seeds();
  const auto [first, all] = step.place_of(input, count);
  Corruption corruption = draw_corruption(all, k, settings_, stream_of(settings_, Stream::corruption, step.number));
  const auto masked = static_cast<int64_t>(corruption.masked.size());
  if (input.exchange != nullptr) corruption = part_of(corruption, first, count);
  widen(corruption, input.num_nodes());
  return {masked, std::move(corruption)};
}

// Losses and gradients of the parts are means over what they count; weighted by how much that is, they add up to those
// of the batch. A batch that is too small to be divided is learnt from by all, each for its share.
std::vector<double> GraphPae::learn_together(const GraphInput& input, const DrawnCorruption& corruption,
                                             uint64_t dropout_key, const LearningStep& step) {
  LearnShare share;
  if (input.exchange != nullptr) {
    const double weight = position_weight(input, corruption.part);
    std::vector<double> all = {weight};
    step.processes->sum(all);
    share.feature = static_cast<double>(corruption.part.masked.size()) / static_cast<double>(corruption.masked);
    share.position = all[0] > 0 ? weight / all[0] : 0;
  } else {
    share.feature = share.position = 1.0 / step.processes->size();
  }
  share.before_last_pass = [&](bool decoded) {
    if (step.before_last_pass)
      step.before_last_pass(decoded ? feature_decoder->parameters() : std::vector<torch::Tensor>());
  };
  std::vector<double> sums = {0, 0};
  // Without masked nodes there is nothing to learn, but the statistics of molecules count for the others.
  if (!corruption.part.masked.empty() || input.is_molecules()) {
    const Losses losses = learn(input, corruption.part, step.own_key(input, dropout_key), share);
    if (losses.feature.defined()) sums[0] = share.feature * number(losses.feature);
    if (losses.position.defined()) sums[1] = share.position * number(losses.position);
  }
  if (step.after_last_pass) step.after_last_pass();
  step.processes->sum(sums);
  return {sums[0] + settings_.alpha * sums[1], feature_decoder.is_empty() ? kNone : sums[0],
          position_decoder.is_empty() ? kNone : sums[1]};
}

std::vector<double> GraphPae::learn(const GraphInput& input, const LearningStep& step) {
  const DrawnCorruption corruption = draw(input, step);
  if (corruption.masked == 0) return {};
  const uint64_t dropout_key = stream_of(settings_, Stream::dropout, step.number).bits(0);
  if (step.processes != nullptr) return learn_together(input, corruption, dropout_key, step);
  const Losses losses = learn(input, corruption.part, dropout_key);
  return {number(losses.total), number(losses.feature), number(losses.position)};
}

}  // namespace graphpae
