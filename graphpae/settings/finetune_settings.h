// FinetuneSettings: what a recipe says about training on labels, beside the Settings that pre-training has too (epochs,
// lr, warmup, schedule, dropouts, ...). Recipes write them as a map `finetune:`.
#pragma once

#include <cstdint>
#include <string>

#include "graphpae/core/metrics.h"
#include "graphpae/core/options.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

enum class TargetLoss { automatic, l1, l2, bce };
enum class HeadKind { linear, mlp };
enum class Freeze { none, encoder, embeddings };

struct FinetuneSettings {
  // strict: labels standardised by the training part, the epoch with the best validation score is reported.
  // paper: labels as they are, the last epoch is reported.
  Protocol protocol = Protocol::strict;
  HeadKind head = HeadKind::linear;
  TargetLoss loss = TargetLoss::automatic;
  Freeze freeze = Freeze::none;
  double encoder_lr = 0;
  int64_t patience = 0;
  std::string units;  // data/units.h
};

// Keys are "finetune.head" and so on.
void declare(OptionTable& table, FinetuneSettings& settings);

// Throws a usage error if settings contradict each other.
void check(const FinetuneSettings& settings);

// For fine-tuning: what shapes a model from `model`; how it is trained (epochs, lr, batch_size, dropouts, pooling,
// seed, ...) from `training`.
Settings finetune_settings(const Settings& model, const Settings& training);

// All settings of a fine-tuned run as text and back, as to_yaml and settings_from_yaml.
std::string to_yaml(const Settings& settings, const FinetuneSettings& finetune);
FinetuneSettings finetune_settings_from_yaml(const std::string& yaml, const std::string& source);

}  // namespace graphpae
