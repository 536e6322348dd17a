// The verb `reproduce`, and what it shares with `reproduce tune`.
#pragma once

#include "graphpae/cli/reproduce_jobs.h"

namespace graphpae::cli {

void add_reproduce(CLI::App& app, Common& common);

struct ReproduceFlags {
  std::string name, tune_data;
  std::string data, output = "graphpae-reproduce", budget, fill, recipe;
  std::vector<std::string> datasets, variants, results;
  int64_t seeds = 0, epochs = 0;
  bool keep_runs = false, table_only = false, dry_run = false;
};

// --data, or the usual places of data.
std::vector<std::string> data_places(const ReproduceFlags& flags);

// The workshop of -o, absolute.
Workshop workshop_of(const ReproduceFlags& flags);

// Records of the workshop and of --results.
std::vector<Record> all_records(const Workshop& workshop, const ReproduceFlags& flags);

// `reproduce tune DATA`.
void tune(const ReproduceFlags& flags, const Common& common);

}  // namespace graphpae::cli
