// Experiment: which recipes, settings and seeds make a table of the paper, and the numbers published in it. Read from
// YAML, see docs/reproduce.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/core/options.h"

namespace graphpae {

struct Published {
  double mean = 0;
  std::optional<double> deviation;
  std::string text;  // as it was printed
  int decimals = 0;  // of the mean, in print
};

// A data set of a table.
struct ExperimentRow {
  std::string name;               // as the table shows it
  std::vector<std::string> data;  // names of the data set; the first one found is used
  std::string recipe;             // a name, or a YAML file of settings
  SettingList set;
  std::string metric;                // "" for that of the evaluation; of fine-tuning: rmse, mae, mae_paper, rocauc
  std::vector<std::string> targets;  // lines of their own in the table, all from the same runs; empty for one score
  std::string note;
};

// How a variant is measured.
enum class Measurement {
  probe,       // pre-train, then probe the frozen embeddings
  supervised,  // train on labels from scratch
  transfer,    // pre-train on other data, then fine-tune
};
inline constexpr const char* kMeasurementNames[] = {"probe", "supervised", "transfer"};

// Settings that differ between lines of a table.
struct ExperimentVariant {
  std::string name, note;
  Measurement measurement = Measurement::probe;
  SettingList set;
  std::vector<std::string> pretrain_data;  // of transfer; the first one found is used
  std::string pretrain_recipe;
  std::map<std::string, Published> published;  // by name of row, or of target
  bool by_default = true;                      // false: only if asked for
  bool baselines = false;                      // probe also an untrained encoder, raw features, ...
  std::optional<double> value;                 // of the setting that a sweep changes
};

struct Experiment {
  std::string name, title, paper;  // paper: where it stands there
  bool spectrum = false;           // not a table of scores: the spectral analysis of each row
  int64_t seeds = 10;
  std::vector<ExperimentRow> rows;
  std::vector<ExperimentVariant> variants;
  std::string reference;  // the variant that others are compared with; "" for none
  std::string sweep;      // the setting that variants differ in, if they are a sweep
  std::vector<std::string> notes;
};

// Throws a usage error that names `source`, what is wrong and, for an unknown key, the nearest one.
Experiment parse_experiment(const std::string& yaml, const std::string& name, const std::string& source);

// The experiments that are compiled in, in the order of the paper.
std::vector<Experiment> experiments();

// By its name, or from a file that ends in .yaml or .yml. Throws a usage error that suggests the nearest name.
Experiment find_experiment(const std::string& name_or_file);

// The rows or variants that are named, in the order of the experiment. Names of rows are also those of their data;
// upper and lower case are the same. Throws a usage error that suggests the nearest name.
void keep_rows(Experiment& experiment, const std::vector<std::string>& names);
void keep_variants(Experiment& experiment, const std::vector<std::string>& names);  // none: those by default

}  // namespace graphpae
