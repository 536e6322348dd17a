// RunRecord: what a run directory tells about its run, finished or not.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graphpae/core/options.h"
#include "graphpae/report/metrics_file.h"

namespace graphpae {

struct RunRecord {
  std::string path;
  std::string name;                             // the last part of the path
  SettingList settings;                         // of config.yaml, in its order
  nlohmann::ordered_json environment, results;  // null if the file is not there
  struct Part {
    std::string name;  // "split 0", "mu"; "" for a run that is one
    Metrics metrics;
  };
  std::vector<Part> parts;
  std::vector<std::string> notes;  // what a reader must know: interrupted, a file that cannot be read

  bool finished() const { return results.is_object() && results.contains("final_loss"); }
  std::string method() const;  // how the encoder learnt without labels; graphpae if the run does not say, as early ones
  std::string environment_text(const std::string& key) const;  // "" if it is not there
  bool fine_tuned() const { return environment.is_object() && environment.contains("pretrained"); }
  int64_t epochs_done() const;     // of the part that went furthest
  int64_t epochs_planned() const;  // 0 if unknown
};

// Throws a data error if the directory holds no run, or one of a newer version.
RunRecord read_run(const std::string& path);

// Whether version `other` may write files that version `own` does not know: a larger first or second number.
bool is_newer(const std::string& other, const std::string& own);

}  // namespace graphpae
