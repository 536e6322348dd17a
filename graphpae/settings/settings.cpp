#include "graphpae/settings/settings.h"

#include <fmt/format.h>

#include "graphpae/core/error.h"
#include "graphpae/core/options.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/method_names.h"

namespace graphpae {
namespace {

const std::vector<std::pair<std::string, Schedule>> kFormerSchedules = {{"none", Schedule::constant}};

}  // namespace

void declare(OptionTable& table, Settings& s) {
  std::vector<std::pair<std::string, std::string>> methods;
  for (const MethodName& method : method_names()) methods.emplace_back(method.name, method.name);
  table.add_choice("method", s.method, std::move(methods), "Learn without labels by this method.");
  table.add_choice(
      "node_features", s.node_features,
      {{"auto", FeatureSource::automatic},
       {"given", FeatureSource::given},
       {"structure", FeatureSource::structure},
       {"both", FeatureSource::both}},
      "Learn from the features of the data, from some that are made of the edges, or from both; auto takes "
      "those of the data if any of them differs between nodes.");
  table.add_choice(
      "scale", s.scale,
      {{"auto", Scale::automatic}, {"none", Scale::none}, {"standard", Scale::standard}, {"rows", Scale::rows}},
      "Leave features as they are (none), give every column mean 0 and deviation 1 (standard) or divide every row by "
      "its sum (rows); auto standardises dense numbers and leaves 0/1, counts and sparse features.");
  table.add("row_normalize", s.row_normalize, "Divide every feature row by its sum, as scale=rows does.");
  table.add("drop_constant", s.drop_constant, "Leave out feature columns in which all nodes agree.");
  table.add(
      "structure.walks", s.structure_walks, between(0, 64),
      "Let structural features tell how likely random walks of up to this many steps return; 0 means not at all.");
  table.add("structure.positions", s.structure_positions, between(0, 4096),
            "Let structural features have this many Laplacian eigenvectors.");
  table.add("structure.neighbours", s.structure_neighbours, between(0, 65536),
            "Let structural features have this many random projections of adjacency rows.");
  table.add_choice("weights", s.weights, {{"use", WeightUse::use}, {"ignore", WeightUse::ignore}},
                   "Use the weights of edges, if they have any, in positions and attention, or count every edge the "
                   "same.");

  table.add_choice("encoder", s.encoder, {{"gat", EncoderKind::gat}, {"gated_gcn", EncoderKind::gated_gcn}},
                   "Encode with an attention network (one graph) or with gated convolutions (molecules).");
  table.add("layers", s.layers, between(1, 100), "Give the encoder this many layers, the L of the paper.");
  table.add("width", s.width, between(1, 65536), "Make node representations this wide, all heads together.");
  table.add("heads", s.heads, between(1, 64), "Use this many attention heads, which must divide the width.");
  table.add("gaussians", s.gaussians, between(1, 4096), "Embed distances with this many Gaussian basis functions.");
  table.add("gaussian_range", s.gaussian_range, between(1e-6, 1e6),
            "Draw the first means and deviations of Gaussians between 0 and this.");
  table.add("gaussian_density", s.gaussian_density, "Divide a Gaussian by sqrt(2 pi) times its deviation.");
  table.add("shared_deviation", s.shared_deviation, "Share one deviation among all Gaussians, as Eq. (5) writes it.");
  table.add_choice(
      "attention", s.attention,
      {{"released", Attention::released}, {"paper_softmax", Attention::paper_softmax}, {"paper", Attention::paper}},
      "Mix attention and positions in this way, see docs/deviations.md.");
  table.add("negative_slope", s.negative_slope, between(0, 1), "Give LeakyReLU this slope below zero.");
  const std::vector<std::pair<std::string, Activation>> activations = {{"auto", Activation::automatic},
                                                                       {"elu", Activation::elu},
                                                                       {"relu", Activation::relu},
                                                                       {"gelu", Activation::gelu},
                                                                       {"prelu", Activation::prelu}};
  table.add_choice(
      "activation", s.activation, activations,
      "Put this function between encoder layers; auto is elu for gat and relu otherwise, and prelu has one learnt "
      "slope per layer.");
  table.add("output_activation", s.output_activation, "Put the activation after the last layer of a gat, too.");
  table.add("feature_mlp", s.feature_mlp, "Lift node features with a two-layer network before the first layer.");
  table.add_choice("decoder_activation", s.decoder_activation,
                   {{"gelu", Activation::gelu}, {"relu", Activation::relu}, {"elu", Activation::elu}},
                   "Put this function into both decoders.");
  table.add("decoder_norm", s.decoder_norm, "Put a layer norm into both decoders.");
  table.add("dropout", s.dropout, below(0, 1), "Drop this share of node features before every layer.");
  table.add("edge_dropout", s.edge_dropout, below(0, 1), "Drop this share of attention weights, or of edge states.");
  table.add_choice("pooling", s.pooling, {{"mean", Pooling::mean}, {"sum", Pooling::sum}, {"max", Pooling::max}},
                   "Pool the atoms of a molecule in this way.");

  table.add("eigenvectors", s.eigenvectors, between(0, 100000),
            "Use this many Laplacian eigenvectors as positions, the K of the paper.");
  table.add("skip_zero_eigenvalues", s.skip_zero_eigenvalues, "Leave out eigenvalues below 1e-6.");
  table.add("absolute_positions", s.absolute_positions, "Take absolute values of eigenvectors.");
  table.add_choice("position_norm", s.position_norm, {{"none", PositionNorm::none}, {"l2", PositionNorm::l2}},
                   "Normalise each eigenvector in this way.");

  table.add("mask_ratio", s.mask_ratio, between(0, 1), "Mask and shake this share of nodes, the r of the paper.");
  table.add("replace_ratio", s.replace_ratio, between(0, 1),
            "Give this share of masked nodes another node's features instead of the token.");
  table.add("noise", s.noise, at_least(0), "Shake positions by up to this much, uniformly, the mu_p of the paper.");

  table.add("use_positions", s.use_positions, "Give the encoder positions.");
  table.add("corrupt_features", s.corrupt_features, "Hide the features of masked nodes.");
  table.add("corrupt_positions", s.corrupt_positions, "Shake the positions of masked nodes.");
  table.add("reconstruct_features", s.reconstruct_features, "Learn from the feature loss.");
  table.add("reconstruct_positions", s.reconstruct_positions, "Learn from the position loss.");
  table.add("dual_path", s.dual_path, "Make one pass per corruption instead of a single pass with both.");

  table.add_choice("feature_loss", s.feature_loss, {{"sce", FeatureLoss::sce}, {"mse", FeatureLoss::mse}},
                   "Measure features by the scaled cosine error or by the mean squared error.");
  table.add("gamma", s.gamma, between(1, 100), "Raise the scaled cosine error to this power.");
  table.add("alpha", s.alpha, at_least(0), "Weigh the position loss with this.");

  table.add("epochs", s.epochs, between(0, 1e9), "Pass over the data this often.");
  table.add("batch_size", s.batch_size, between(0, 1e9),
            "Take this many seed nodes or molecules per step; 0 means the whole graph.");
  table.add("fanout", s.fanout, between(1, 1e6),
            "Sample this many neighbours per layer, for instance 20,10,5; nothing means all.");
  table.add("sample_replace", s.sample_replace, "Draw neighbours with replacement.");
  table.add_choice("optimizer", s.optimizer,
                   {{"adam", OptimizerKind::adam}, {"adamw", OptimizerKind::adamw}, {"sgd", OptimizerKind::sgd}},
                   "Train with this optimiser.");
  table.add("lr", s.lr, between(0, 1e3), "Train with this learning rate.");
  table.add("weight_decay", s.weight_decay, at_least(0), "Train with this weight decay.");
  table.add_choice("schedule", s.schedule, {{"constant", Schedule::constant}, {"cosine", Schedule::cosine}},
                   "Keep the learning rate, or let it fall to 0 along a cosine.", kFormerSchedules);
  table.add("warmup", s.warmup, between(0, 1e9), "Raise the learning rate linearly over this many epochs.");
  table.add("restarts", s.restarts, between(1, 1e9),
            "Begin the cosine anew after these epochs, for instance 200,400; nothing means never.");
  table.add("seed", s.seed, between(0, 0x1p62), "Make every random choice from this seed.");

  declare_probe(table, s);
}

void declare_probe(OptionTable& table, Settings& s) {
  table.add("probe.lr", s.probe_lr, between(0, 1e3), "Train the probe with this learning rate.");
  table.add("probe.weight_decay", s.probe_weight_decay, at_least(0), "Train the probe with this weight decay.");
  table.add("probe.epochs", s.probe_epochs, between(1, 1e7), "Train the probe for this many epochs.");
}

void check(const Settings& s) {
  const MethodName& method = find_method(s.method);
  if (!(s.encoder == EncoderKind::gat ? method.graphs : method.molecules))
    throw usage_error(fmt::format("method {} learns from {}", s.method, method.graphs ? "one graph" : "molecules"));
  if (s.encoder == EncoderKind::gat && s.width % s.heads != 0)
    throw usage_error(fmt::format("width {} is not a multiple of heads {}", s.width, s.heads));
  if (s.row_normalize && s.scale == Scale::standard)
    throw usage_error("row_normalize and scale=standard exclude each other");
  if (s.structure_walks == 1) throw usage_error("structure.walks is 1: a walk is back after two steps at the earliest");
  if (!s.reconstruct_features && !s.reconstruct_positions)
    throw usage_error("reconstruct_features and reconstruct_positions are both off: nothing to learn from");
  if (s.use_positions && s.eigenvectors == 0)
    throw usage_error("eigenvectors is 0: set use_positions=no for an encoder without positions");
  if (!s.use_positions && !s.reconstruct_features)
    throw usage_error("use_positions is off and reconstruct_features too: nothing to learn from");
  if (s.mask_ratio == 0 && s.epochs > 0) throw usage_error("mask_ratio is 0: nothing to reconstruct");
  if (s.warmup > s.epochs) throw usage_error(fmt::format("warmup {} is longer than epochs {}", s.warmup, s.epochs));
  if (s.restarts.empty()) return;
  if (s.schedule != Schedule::cosine) throw usage_error("restarts are of a cosine: schedule is constant");
  int64_t earlier = s.warmup;
  for (const int64_t restart : s.restarts) {
    if (restart <= earlier || restart >= s.epochs)
      throw usage_error(
          fmt::format("restarts: {} does not ascend between warmup {} and epochs {}", restart, s.warmup, s.epochs));
    earlier = restart;
  }
}

void prolong(Settings& settings, int64_t epochs) {
  const bool falls = settings.schedule == Schedule::cosine && settings.epochs > settings.warmup;
  if (falls) settings.restarts.push_back(settings.epochs);
  settings.epochs = epochs;
}

std::string current_text(const std::string& key, const std::string& text) {
  return key == "schedule" && text == kFormerSchedules.front().first ? "constant" : text;
}

std::string to_yaml(const Settings& settings) {
  Settings copy = settings;
  OptionTable table;
  declare(table, copy);
  return to_yaml(table);
}

Settings settings_from_yaml(const std::string& yaml, const std::string& source) {
  return all_settings_from_yaml(yaml, source).model;
}

}  // namespace graphpae
