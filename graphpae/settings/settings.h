// Settings: everything a recipe can say about pre-training, with the paper's symbols. No LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/options.h"

namespace graphpae {

enum class EncoderKind { gat, gated_gcn };
enum class FeatureLoss { sce, mse };
enum class OptimizerKind { adam, adamw, sgd };
enum class Schedule { constant, cosine };
enum class Pooling { mean, sum, max };
enum class PositionNorm { none, l2 };
enum class Activation { automatic, elu, relu, gelu, prelu };
enum class Attention { released, paper_softmax, paper };
enum class WeightUse { use, ignore };
enum class FeatureSource { automatic, given, structure, both };
enum class Scale { automatic, none, standard, rows };

struct Settings {
  // What the encoder learns from without labels: settings/method_names.h
  std::string method = "graphpae";

  // Data (settings/feature_plan.h)
  FeatureSource node_features = FeatureSource::automatic;
  Scale scale = Scale::none;
  bool row_normalize = false;  // the same as Scale::rows
  bool drop_constant = false;
  int64_t structure_walks = 8;
  int64_t structure_positions = 32;
  int64_t structure_neighbours = 256;
  WeightUse weights = WeightUse::use;

  // Encoder and decoders (Section 4.2, 4.3)
  EncoderKind encoder = EncoderKind::gat;
  int64_t layers = 2;
  int64_t width = 1024;  // d_h
  int64_t heads = 4;
  int64_t gaussians = 128;
  double gaussian_range = 0.1;
  bool gaussian_density = true;
  bool shared_deviation = false;
  Attention attention = Attention::released;
  double negative_slope = 0.2;
  Activation activation = Activation::automatic;
  bool output_activation = false;
  bool feature_mlp = false;
  Activation decoder_activation = Activation::gelu;
  bool decoder_norm = true;
  double dropout = 0.0;
  double edge_dropout = 0.0;
  Pooling pooling = Pooling::mean;

  // Positions (Section 3)
  int64_t eigenvectors = 50;  // K
  bool skip_zero_eigenvalues = false;
  bool absolute_positions = false;
  PositionNorm position_norm = PositionNorm::none;

  // Corruption (Section 4.1)
  double mask_ratio = 0.25;  // r
  double replace_ratio = 0.0;
  double noise = 0.01;  // mu_p

  // Ablations (Tables 5 and 6)
  bool use_positions = true;
  bool corrupt_features = true;
  bool corrupt_positions = true;
  bool reconstruct_features = true;
  bool reconstruct_positions = true;
  bool dual_path = true;

  // Losses (Section 4.3)
  FeatureLoss feature_loss = FeatureLoss::sce;
  double gamma = 2.0;
  double alpha = 0.01;

  // Training (Algorithm 1)
  int64_t epochs = 1000;
  int64_t batch_size = 0;
  std::vector<int64_t> fanout;
  bool sample_replace = false;
  OptimizerKind optimizer = OptimizerKind::adam;
  double lr = 1e-3;
  double weight_decay = 0.0;
  Schedule schedule = Schedule::cosine;
  int64_t warmup = 0;
  std::vector<int64_t> restarts;  // epochs that begin a cosine anew
  int64_t seed = 0;

  // Probe on frozen embeddings (Section 5)
  double probe_lr = 1e-2;
  double probe_weight_decay = 0.0;
  int64_t probe_epochs = 2000;
};

void declare(OptionTable& table, Settings& settings);
void declare_probe(OptionTable& table, Settings& settings);  // the probe.* settings only

// Throws a usage error if settings contradict each other.
void check(const Settings& settings);

// More epochs for a run: those it had keep their learning rates. A constant rate stays; a cosine, which has fallen to
// 0, begins anew after them (a warm restart).
void prolong(Settings& settings, int64_t epochs);

// A setting's text as it is written now: some values had other names in earlier versions.
std::string current_text(const std::string& key, const std::string& text);

// Settings as text and back, "key: value" lines in the order of declaration.
std::string to_yaml(const Settings& settings);
Settings settings_from_yaml(const std::string& yaml, const std::string& source);

}  // namespace graphpae
