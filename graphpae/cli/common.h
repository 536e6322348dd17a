// Flags of all verbs, and how results and messages are printed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graphpae/core/threads.h"

namespace graphpae::cli {

using Json = nlohmann::ordered_json;

// Flags that mean the same for every verb.
struct Common {
  int threads = 0;  // 0: all processors
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  std::string log_file;
  std::string command;  // not a flag: the whole command line, as a shell reads it

  Threads thread_count() const { return threads > 0 ? Threads{threads} : all_threads(); }
};

// Results go to stdout, everything else to stderr.
void print_json(const Json& json);
void print_notes(const std::vector<std::string>& notes);

}  // namespace graphpae::cli
