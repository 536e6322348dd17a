// Checkpoints: tensors and texts of training under way, with a checksum and a version. Written completely or not at
// all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/io/safetensors.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

// A checkpoint file that is not whole.
class DamagedCheckpoint : public Error {
 public:
  explicit DamagedCheckpoint(const std::string& message) : Error(ErrorKind::data, message) {}
};

struct EpochMetrics {
  int64_t epoch = 0;                                  // from 1
  std::vector<std::pair<std::string, double>> terms;  // means over the steps, the loss first; NaN: a term that is off
  double lr = 0;
  double seconds = 0;

  double loss() const { return terms.empty() ? 0 : terms.front().second; }  // the total
  double term(std::string_view name) const;                                 // NaN if there is none of that name
};

// Training that can be saved in the middle and gone on with, to the same bits.
class Resumable {
 public:
  explicit Resumable(const Settings& settings) : settings_(settings) {}
  virtual ~Resumable() = default;

  // Trains one step; returns the metrics of the epoch if it was its last one.
  virtual std::optional<EpochMetrics> train_step() = 0;
  EpochMetrics train_epoch();  // the steps that are left of it

  int64_t epoch() const { return epoch_; }  // epochs done
  int64_t step() const { return step_; }    // steps done of the next one
  virtual int64_t steps_per_epoch() const = 0;
  virtual bool done() const { return epoch_ >= settings_.epochs; }
  const Settings& settings() const { return settings_; }

  // `data` names the data (a hash).
  virtual void save(const std::string& path, const std::string& data) const = 0;
  // Goes on where save() was. Throws DamagedCheckpoint, or another error if it belongs to other data or settings;
  // nothing is changed then.
  virtual void restore(const std::string& path, const std::string& data) = 0;

 protected:
  // Over the steps of the epoch at work.
  struct Sums {
    int64_t steps = 0;  // those that taught something
    std::vector<double> terms;
    double seconds = 0;
  };
  // After the last step of an epoch: the means of its terms, called by these names.
  EpochMetrics end_epoch(const std::vector<std::string>& terms);

  // How far training is, for a checkpoint and from it.
  std::map<std::string, std::string> progress_texts(const std::string& data) const;
  void take_progress(const SafeTensors& checkpoint);
  // How many epochs have had a step by then.
  static int64_t epochs_begun(const SafeTensors& checkpoint);

  Settings settings_;
  int64_t epoch_ = 0, step_ = 0;
  Sums sums_;
};

void write_checkpoint(const std::string& path, std::map<std::string, std::string> texts,
                      const std::vector<SafeTensorView>& tensors);

// Whether training by settings `now` goes on from `epochs` of training by `then`: they differ in nothing but the number
// of epochs and restarts, and those epochs have the same learning rates.
bool extends(const Settings& now, const Settings& then, int64_t epochs);

// The file, its checksum, version and data verified. Throws DamagedCheckpoint, or a data error for another version or
// other data.
SafeTensors open_checkpoint(const std::string& path, const std::string& data);

}  // namespace graphpae
