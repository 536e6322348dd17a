// A run directory: everything about one training run, so arranged that a program killed at any moment can go on.
//
//   config.yaml        every resolved setting
//   environment.json   version, threads, processor, hash of the data
//   metrics.jsonl      a line per epoch
//   checkpoints/       the last two, epoch-NNNNNNNN.safetensors, or epoch-NNNNNNNN.step-NNNNNNNN.safetensors
//   model/             config.json, model.safetensors, README.md
//   results.json       the end of it
//   test_predictions.csv  of fine-tuning, what was predicted for rows of the test part that have labels
//   map.json           the embeddings as points of a plane, where they were evaluated
//   report.html        all of it as a page
//   splits/, targets/  the run directories of its parts, for fine-tuning on several splits or one target at a time
//   run.lock           while a process writes into it: which one (io/process_lock.h)
#pragma once

#include <exception>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/run/context.h"
#include "graphpae/settings/finetune_settings.h"
#include "graphpae/settings/settings.h"
#include "graphpae/train/checkpoint.h"

namespace graphpae {

class ProcessLock;

// As long as it or a copy lives, no other process gets the same directory; `command` tells it who has it.
class RunDirectory {
 public:
  // A new run. Throws a usage error if the directory exists and is not empty, unless `force`: then the files of an
  // earlier run are removed, others are left alone. Throws a usage error, too, if a process is writing into it.
  static RunDirectory create(const std::string& path, bool force, const std::string& command = "");
  // A run to go on with. Throws a data error if there is none, and a usage error if a process is writing into it.
  static RunDirectory open(const std::string& path, const std::string& command = "");
  static bool holds_run(const std::string& path);  // whether open() would find one

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  // The setting names and values in config.yaml.
  Settings settings() const { return settings_of(path_); }
  static Settings settings_of(const std::string& path);  // of a run that is only looked at

  // Removes what a run without any checkpoint or model has written, and the directory if nothing else is in it.
  void discard_unstarted() const;

  // Adds a line to metrics.jsonl; it is there for readers when the call returns.
  void append(const EpochMetrics& metrics);
  // Lines up to `epoch` stay, later ones and half lines go. Returns what stays.
  std::vector<EpochMetrics> rewind_metrics(int64_t epoch);

  // Writes a checkpoint and removes all but the last two.
  void save_checkpoint(const Resumable& trainer, const std::string& data);
  // Restores the newest checkpoint that is whole; damaged ones are skipped, each with a line in `notes`. Returns false
  // if there is none.
  bool restore_checkpoint(Resumable& trainer, const std::string& data, std::vector<std::string>& notes) const;

 private:
  RunDirectory(std::string path, std::shared_ptr<ProcessLock> lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::vector<std::string> checkpoints() const;  // paths, oldest first

  std::string path_;
  std::shared_ptr<ProcessLock> lock_;
};

// Where training is kept and how it starts, for all that trains.
struct RunOptions {
  std::string run;                     // directory
  bool resume = false, force = false;  // go on with what is there, or start anew
  bool prolongs = true;                // a run that goes on gets more epochs if they are asked for; false: an error
  int64_t checkpoint_every = 50;       // epochs
  std::string data;                    // its name in errors and files
  std::string featurizer;              // that molecules were read with, for config.yaml; may be empty

  bool goes_on() const { return resume && RunDirectory::holds_run(run); }
};

// Beside a new run: if an exception passes before there is a checkpoint, nothing of the run is left in the way of the
// next try.
class NewRunGuard {
 public:
  explicit NewRunGuard(const RunDirectory& run) : run_(run) {}
  ~NewRunGuard() {
    if (std::uncaught_exceptions() > exceptions_) run_.discard_unstarted();
  }
  NewRunGuard(const NewRunGuard&) = delete;
  NewRunGuard& operator=(const NewRunGuard&) = delete;

 private:
  const RunDirectory& run_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace graphpae

namespace graphpae::run {

// Writes environment.json. A run that goes on keeps the command that began it. `more` is added to the end.
void write_environment(const RunDirectory& run, const std::string& data, const std::string& data_hash,
                       const Context& context, const nlohmann::ordered_json& more);

// The first setting in which two differ, with its values as text. `S` is Settings or FinetuneSettings.
struct SettingDifference {
  std::string key, first, second;
};
template <class S>
std::optional<SettingDifference> setting_difference(S first, S second);

// What a run has chosen where `asked` leaves the choice to it: the source of features and their scale.
Settings with_choices_of(const Settings& begun, Settings asked);

// What is asked of a run may only repeat what it has. Throws a usage error that names the first difference.
template <class S>
void check_repeats(const std::string& run, const S& has, const S& asked);

// The settings a run goes on with, from those it has and those that are asked for: the same, or prolonged
// (settings.h). Throws a usage error that names another difference.
Settings settings_to_go_on(const RunOptions& options, const Settings& has, Settings asked);
// "prolonged from 200 to 400 epochs; ...", for the user.
std::string prolonged_text(const Settings& has, const Settings& prolonged);

// The line of config.yaml that says how molecules were read; "" if there is nothing to say.
std::string reading_yaml(const std::string& featurizer);

}  // namespace graphpae::run
