// Runs as they are on disk, and report.html: what one did, or how several compare, as one page.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graphpae/core/options.h"
#include "graphpae/report/metrics_file.h"

namespace graphpae {

// What a run directory tells about its run, finished or not.
struct RunRecord {
  std::string path;
  std::string name;                             // the last part of the path
  SettingList settings;                         // of config.yaml, in its order
  nlohmann::ordered_json environment, results;  // null if the file is not there
  struct Part {
    std::string name;  // "split 0", "mu"; "" for a run that is one
    Metrics metrics;
    std::string directory;  // the whole path
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

// One number of results.json with what is known about its spread.
struct ResultScore {
  std::string protocol;                   // "strict", "paper (inflated)"; "" if there is but one
  std::string row;                        // "embeddings", "raw features", the name of a target
  std::string metric;                     // "accuracy in %", "RMSE"
  std::string mean, deviation, interval;  // as text; "" if there is none, "one score" for a spread nobody can know
  // The same as numbers, in the unit of the text; NaN if there is none.
  double value = kNone, low = kNone, high = kNone;
  bool trained = true;  // false: a baseline, or a block that needs no training

  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
};

// Every score of an evaluation or of fine-tuning: the subject first, then baselines, by protocol. Nothing for results
// without scores, whatever else they hold.
std::vector<ResultScore> result_scores(const nlohmann::ordered_json& results);

// The sentence that comes first: how good the embeddings are beside the best of what needs no training, under the first
// protocol, and whether the difference may be chance; for fine-tuning the score on the test part. "" if there is
// nothing to say.
struct Verdict {
  std::string text;
  int standing = 0;  // 1: better than all else, -1: worse than something, 0: neither is certain
};
Verdict verdict(const nlohmann::ordered_json& results);

// Classes and counts [classes, classes] of the confusion matrix under the first protocol; no names if there is none.
struct ConfusionCounts {
  std::vector<std::string> names;
  std::vector<std::vector<double>> counts;
  std::string about;  // one line
};
ConfusionCounts confusion_counts(const nlohmann::ordered_json& results);

// What the evaluation was made of: splits, seeds, probe. "" if there is none.
std::string evaluation_summary(const nlohmann::ordered_json& results);

// The page of one run: results, losses, confusion, map (map.json of the run), spectrum (spectrum/spectrum.json, or
// that of the directory `spectrum`), settings, environment and how to repeat it. An unfinished run is shown as far as
// it went. Throws a data error if there is no run, or one of a newer version.
std::string run_report(const std::string& run, const std::string& spectrum = "");

// The page of several runs: results side by side, losses together, settings that differ.
std::string comparison_report(const std::vector<std::string>& runs);

}  // namespace graphpae
