// What `reproduce` and `reproduce tune` are asked for, and who watches them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/run/context.h"

namespace graphpae {

struct ReproduceOptions {
  std::string name;                           // an experiment, "all", or a YAML file
  std::string tune_data, recipe;              // of tune: the data set, and where the search starts
  std::string data;                           // directory of data sets; "" for the usual places
  std::string output = "graphpae-reproduce";  // directory of results and unfinished runs
  std::string budget;                         // time to spend; "" for no limit
  std::string fill;                           // a Markdown file whose marks are filled; "" for none
  std::vector<std::string> datasets, variants, results;
  int64_t seeds = 0, epochs = 0;  // 0: as experiments and recipes say
  int threads = 0;                // of child processes; 0: all processors
  bool keep_runs = false, table_only = false, dry_run = false;
};

// The error of a call that was stopped.
inline constexpr const char* kKeptWhenInterrupted =
    "interrupted; what is done is kept, and the same command goes on from there";

struct JobWatch : run::Watch {
  std::function<void(const std::string& line)> failure;  // a job has failed; the others go on
  std::function<void(const std::string& line)> command;  // that is run as a child process

  void say_failure(const std::string& line) const {
    if (failure) failure(line);
  }
  void say_command(const std::string& line) const {
    if (command) command(line);
  }
  // Throws an interrupted error if it is to stop.
  void check() const {
    if (stopping()) throw Error(ErrorKind::interrupted, "interrupted");
  }
};

}  // namespace graphpae
