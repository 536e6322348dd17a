// What `graphpae reproduce NAME` and `graphpae reproduce tune` share.
#pragma once

#include <memory>

#include "graphpae/cli/reproduce_jobs.h"

namespace graphpae::cli {

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
// A place for children to work in when nothing is to be written to -o; removed in the end.
std::shared_ptr<const Workshop> temporary_workshop();

// Records of the workshop and of --results.
std::vector<Record> all_records(const Workshop& workshop, const ReproduceFlags& flags);

// What is said when the user stops it.
inline constexpr const char* kInterrupted =
    "interrupted; what is done is kept, and the same command goes on from there";

// `reproduce tune DATA`.
void tune(const ReproduceFlags& flags, const Common& common);

}  // namespace graphpae::cli
