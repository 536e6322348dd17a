#include "graphpae/train/settings.h"

namespace graphpae {

void declare(OptionTable& table, Settings& s) {
  table.add("row_normalize", s.row_normalize, "divide every feature row by its sum");

  table.add_choice("encoder", s.encoder, {{"gat", EncoderKind::gat}, {"gated_gcn", EncoderKind::gated_gcn}},
                   "attention network for one graph, gated convolution for molecules");
  table.add("layers", s.layers, between(1, 100), "encoder layers L");
  table.add("width", s.width, between(1, 65536), "width of node representations, all heads together");
  table.add("heads", s.heads, between(1, 64), "attention heads; width must be a multiple");
  table.add("gaussians", s.gaussians, between(1, 4096), "Gaussian basis functions of the distance embedding");
  table.add("gaussian_range", s.gaussian_range, between(1e-6, 1e6), "means and deviations start uniform in (0, this)");
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

  table.add_choice("feature_loss", s.feature_loss, {{"sce", FeatureLoss::sce}, {"mse", FeatureLoss::mse}},
                   "scaled cosine error or mean squared error");
  table.add("gamma", s.gamma, between(1, 100), "exponent of the scaled cosine error");
  table.add("alpha", s.alpha, at_least(0), "weight of the position loss");

  table.add("epochs", s.epochs, between(0, 1e9), "passes over the data");
  table.add("batch_size", s.batch_size, between(0, 1e9), "seed nodes or molecules per step; 0 for the whole graph");
  table.add("fanout", s.fanout, between(1, 1e6), "sampled neighbours per layer, for instance 20,10,5; empty for all");
  table.add_choice("optimizer", s.optimizer,
                   {{"adam", OptimizerKind::adam}, {"adamw", OptimizerKind::adamw}, {"sgd", OptimizerKind::sgd}},
                   "optimiser");
  table.add("lr", s.lr, between(0, 1e3), "learning rate");
  table.add("weight_decay", s.weight_decay, at_least(0), "weight decay");
  table.add_choice("schedule", s.schedule, {{"none", Schedule::none}, {"cosine", Schedule::cosine}},
                   "learning rate over time; cosine falls to 0");
  table.add("warmup", s.warmup, between(0, 1e9), "epochs of linear warm-up");
  table.add("seed", s.seed, between(0, 0x1p62), "seed of every random choice");

  table.add("probe.lr", s.probe_lr, between(0, 1e3), "learning rate of the probe");
  table.add("probe.weight_decay", s.probe_weight_decay, at_least(0), "weight decay of the probe");
  table.add("probe.epochs", s.probe_epochs, between(1, 1e7), "epochs of the probe");
}

}  // namespace graphpae
