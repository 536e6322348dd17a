// Checkpoints: tensors and texts of training under way, with a checksum and a version. Written completely or not at
// all.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/io/safetensors.h"

namespace graphpae {

// A checkpoint file that is not whole.
class DamagedCheckpoint : public Error {
 public:
  explicit DamagedCheckpoint(const std::string& message) : Error(ErrorKind::data, message) {}
};

// Training that can be saved in the middle and gone on with, to the same bits.
class Resumable {
 public:
  virtual ~Resumable() = default;

  virtual int64_t epoch() const = 0;  // epochs done
  virtual int64_t step() const = 0;   // steps done of the next one
  // `data` names the data (a hash).
  virtual void save(const std::string& path, const std::string& data) const = 0;
  // Goes on where save() was. Throws DamagedCheckpoint, or another error if it belongs to other data or settings;
  // nothing is changed then.
  virtual void restore(const std::string& path, const std::string& data) = 0;
};

void write_checkpoint(const std::string& path, std::map<std::string, std::string> texts,
                      const std::vector<SafeTensorView>& tensors);

// The file, its checksum and version verified. Throws DamagedCheckpoint, or a data error for another version.
SafeTensors open_checkpoint(const std::string& path);

}  // namespace graphpae
