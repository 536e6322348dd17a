#include "graphpae/settings/finetune_settings.h"

#include <algorithm>
#include <array>

#include "graphpae/core/error.h"
#include "graphpae/core/options.h"
#include "graphpae/settings/all_settings.h"

namespace graphpae {

void declare(OptionTable& table, FinetuneSettings& s) {
  table.add_choice(
      "finetune.protocol", s.protocol, {{"strict", Protocol::strict}, {"paper", Protocol::paper}},
      "Train on standardised labels and report the best validation epoch (strict), or on raw labels and report "
      "the last one (paper).");
  table.add_choice("finetune.head", s.head, {{"linear", HeadKind::linear}, {"mlp", HeadKind::mlp}},
                   "Map rows to targets by one linear map, or by two with ReLU between.");
  table.add_choice(
      "finetune.loss", s.loss,
      {{"auto", TargetLoss::automatic}, {"l1", TargetLoss::l1}, {"l2", TargetLoss::l2}, {"bce", TargetLoss::bce}},
      "Minimise this loss of targets; auto is bce for classes 0 and 1, l2 for numbers.");
  table.add_choice("finetune.freeze", s.freeze,
                   {{"none", Freeze::none}, {"encoder", Freeze::encoder}, {"embeddings", Freeze::embeddings}},
                   "Leave nothing, all of the encoder or what comes before its first layer as it was.");
  table.add("finetune.encoder_lr", s.encoder_lr, between(0, 1e3),
            "Train the encoder with this learning rate; 0 means lr.");
  table.add("finetune.patience", s.patience, between(0, 1e9),
            "End after this many epochs without a better validation score; 0 means never.");
  table.add("finetune.units", s.units, "Give targets these units: none, qm9, or pairs such as y=eV,z=D.");
}

void check(const FinetuneSettings& s) {
  if (s.protocol == Protocol::paper && s.patience > 0)
    throw usage_error("patience waits for the validation score, protocol paper reports the last epoch: use patience 0");
  if (s.freeze == Freeze::encoder && s.encoder_lr > 0)
    throw usage_error("encoder_lr has no meaning for a frozen encoder");
}

Settings finetune_settings(const Settings& model, const Settings& training) {
  constexpr std::array kTraining = {"dropout", "edge_dropout", "pooling",  "epochs", "batch_size", "optimizer",
                                    "lr",      "weight_decay", "schedule", "warmup", "restarts",   "seed"};
  Settings result = model, given = training;
  OptionTable into, from;
  declare(into, result);
  declare(from, given);
  for (const Option& option : from.options()) {
    if (std::find(kTraining.begin(), kTraining.end(), option.key) != kTraining.end())
      into.set(option.key, option.print());
  }
  return result;
}

std::string to_yaml(const Settings& settings, const FinetuneSettings& finetune) {
  Settings general = settings;
  FinetuneSettings special = finetune;
  OptionTable table;
  declare(table, general);
  declare(table, special);
  return to_yaml(table);
}

FinetuneSettings finetune_settings_from_yaml(const std::string& yaml, const std::string& source) {
  return all_settings_from_yaml(yaml, source).finetune;
}

}  // namespace graphpae
