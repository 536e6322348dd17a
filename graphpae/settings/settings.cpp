#include "graphpae/settings/settings.h"

#include <fmt/format.h>

#include "graphpae/core/error.h"
#include "graphpae/core/options.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/method_names.h"

namespace graphpae {

void declare(OptionTable& table, Settings& s) {
  std::vector<std::pair<std::string, std::string>> methods;
  for (const MethodName& method : method_names()) methods.emplace_back(method.name, method.name);
  table.add_choice("method", s.method, std::move(methods), "what is learnt from without labels");
  table.add("row_normalize", s.row_normalize, "divide every feature row by its sum");

  table.add_choice("encoder", s.encoder, {{"gat", EncoderKind::gat}, {"gated_gcn", EncoderKind::gated_gcn}},
                   "attention network for one graph, gated convolution for molecules");
  table.add("layers", s.layers, between(1, 100), "encoder layers L");
  table.add("width", s.width, between(1, 65536), "width of node representations, all heads together");
  table.add("heads", s.heads, between(1, 64), "attention heads; width must be a multiple");
  table.add("gaussians", s.gaussians, between(1, 4096), "Gaussian basis functions of the distance embedding");
  table.add("gaussian_range", s.gaussian_range, between(1e-6, 1e6), "means and deviations start uniform in (0, this)");
  table.add("gaussian_density", s.gaussian_density, "divide a Gaussian by sqrt(2 pi) times its deviation");
  table.add("shared_deviation", s.shared_deviation, "one deviation for all Gaussians, as Eq. (5) writes it");
  table.add_choice(
      "attention", s.attention,
      {{"released", Attention::released}, {"paper_softmax", Attention::paper_softmax}, {"paper", Attention::paper}},
      "how attention and positions are mixed, see docs/deviations.md");
  table.add("negative_slope", s.negative_slope, between(0, 1), "slope of LeakyReLU below zero");
  const std::vector<std::pair<std::string, Activation>> activations = {{"auto", Activation::automatic},
                                                                       {"elu", Activation::elu},
                                                                       {"relu", Activation::relu},
                                                                       {"gelu", Activation::gelu},
                                                                       {"prelu", Activation::prelu}};
  table.add_choice("activation", s.activation, activations,
                   "between encoder layers; auto is elu for gat, relu otherwise; prelu has one learnt slope per layer");
  table.add("output_activation", s.output_activation, "activation after the last layer of a gat, too");
  table.add("feature_mlp", s.feature_mlp, "a two-layer network lifts node features before the first layer");
  table.add_choice("decoder_activation", s.decoder_activation,
                   {{"gelu", Activation::gelu}, {"relu", Activation::relu}, {"elu", Activation::elu}},
                   "inside both decoders");
  table.add("decoder_norm", s.decoder_norm, "layer norm inside both decoders");
  table.add("dropout", s.dropout, below(0, 1), "dropout of node features before every layer");
  table.add("edge_dropout", s.edge_dropout, below(0, 1), "dropout of attention weights, or of edge states");
  table.add_choice("pooling", s.pooling, {{"mean", Pooling::mean}, {"sum", Pooling::sum}, {"max", Pooling::max}},
                   "from nodes to a molecule");

  table.add("eigenvectors", s.eigenvectors, between(0, 100000), "K, Laplacian eigenvectors used as positions");
  table.add("skip_zero_eigenvalues", s.skip_zero_eigenvalues, "leave out eigenvalues below 1e-6");
  table.add("absolute_positions", s.absolute_positions, "take absolute values of eigenvectors");
  table.add_choice("position_norm", s.position_norm, {{"none", PositionNorm::none}, {"l2", PositionNorm::l2}},
                   "normalisation of each eigenvector");

  table.add("mask_ratio", s.mask_ratio, between(0, 1), "r, share of nodes masked and shaken");
  table.add("replace_ratio", s.replace_ratio, between(0, 1),
            "share of masked nodes that get another node's features instead of the token");
  table.add("noise", s.noise, at_least(0), "mu_p, positions are shaken by uniform noise in (-mu_p, mu_p)");

  table.add("use_positions", s.use_positions, "no: an encoder without positions");
  table.add("corrupt_features", s.corrupt_features, "hide the features of masked nodes");
  table.add("corrupt_positions", s.corrupt_positions, "shake the positions of masked nodes");
  table.add("reconstruct_features", s.reconstruct_features, "learn from the feature loss");
  table.add("reconstruct_positions", s.reconstruct_positions, "learn from the position loss");
  table.add("dual_path", s.dual_path, "one pass per corruption; no: a single pass with both");

  table.add_choice("feature_loss", s.feature_loss, {{"sce", FeatureLoss::sce}, {"mse", FeatureLoss::mse}},
                   "scaled cosine error or mean squared error");
  table.add("gamma", s.gamma, between(1, 100), "exponent of the scaled cosine error");
  table.add("alpha", s.alpha, at_least(0), "weight of the position loss");

  table.add("epochs", s.epochs, between(0, 1e9), "passes over the data");
  table.add("batch_size", s.batch_size, between(0, 1e9), "seed nodes or molecules per step; 0 for the whole graph");
  table.add("fanout", s.fanout, between(1, 1e6), "sampled neighbours per layer, for instance 20,10,5; empty for all");
  table.add("sample_replace", s.sample_replace, "draw neighbours with replacement");
  table.add_choice("optimizer", s.optimizer,
                   {{"adam", OptimizerKind::adam}, {"adamw", OptimizerKind::adamw}, {"sgd", OptimizerKind::sgd}},
                   "optimiser");
  table.add("lr", s.lr, between(0, 1e3), "learning rate");
  table.add("weight_decay", s.weight_decay, at_least(0), "weight decay");
  table.add_choice("schedule", s.schedule, {{"none", Schedule::none}, {"cosine", Schedule::cosine}},
                   "learning rate over time; cosine falls to 0");
  table.add("warmup", s.warmup, between(0, 1e9), "epochs of linear warm-up");
  table.add("seed", s.seed, between(0, 0x1p62), "seed of every random choice");

  declare_probe(table, s);
}

void declare_probe(OptionTable& table, Settings& s) {
  table.add("probe.lr", s.probe_lr, between(0, 1e3), "learning rate of the probe");
  table.add("probe.weight_decay", s.probe_weight_decay, at_least(0), "weight decay of the probe");
  table.add("probe.epochs", s.probe_epochs, between(1, 1e7), "epochs of the probe");
}

void check(const Settings& s) {
  const MethodName& method = find_method(s.method);
  if (!(s.encoder == EncoderKind::gat ? method.graphs : method.molecules))
    throw usage_error(fmt::format("method {} learns from {}", s.method, method.graphs ? "one graph" : "molecules"));
  if (s.encoder == EncoderKind::gat && s.width % s.heads != 0)
    throw usage_error(fmt::format("width {} is not a multiple of heads {}", s.width, s.heads));
  if (!s.reconstruct_features && !s.reconstruct_positions)
    throw usage_error("reconstruct_features and reconstruct_positions are both off: nothing to learn from");
  if (s.use_positions && s.eigenvectors == 0)
    throw usage_error("eigenvectors is 0: set use_positions=no for an encoder without positions");
  if (!s.use_positions && !s.reconstruct_features)
    throw usage_error("use_positions is off and reconstruct_features too: nothing to learn from");
  if (s.mask_ratio == 0 && s.epochs > 0) throw usage_error("mask_ratio is 0: nothing to reconstruct");
  if (s.warmup > s.epochs) throw usage_error(fmt::format("warmup {} is longer than epochs {}", s.warmup, s.epochs));
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
