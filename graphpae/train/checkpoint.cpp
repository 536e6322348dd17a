#include "graphpae/train/checkpoint.h"

#include <fmt/format.h>

#include <cmath>

#include "graphpae/io/sha256.h"
#include "graphpae/version.h"

namespace graphpae {
namespace {

constexpr const char* kFormat = "graphpae checkpoint";
constexpr const char* kFormatVersion = "2";

std::string checksum(const std::vector<SafeTensorView>& tensors) {
  Sha256 sum;
  for (const SafeTensorView& tensor : tensors) sum.update(tensor.bytes);
  return sum.hex();
}

}  // namespace

double EpochMetrics::term(std::string_view name) const {
  for (const auto& [key, value] : terms) {
    if (key == name) return value;
  }
  return std::nan("");
}

EpochMetrics Resumable::train_epoch() {
  while (true) {
    if (auto metrics = train_step()) return std::move(*metrics);
  }
}

void write_checkpoint(const std::string& path, std::map<std::string, std::string> texts,
                      const std::vector<SafeTensorView>& tensors) {
  texts.insert(
      {{"format", kFormat}, {"version", kFormatVersion}, {"graphpae", kVersion}, {"sha256", checksum(tensors)}});
  write_safetensors(path, texts, tensors);
}

SafeTensors open_checkpoint(const std::string& path) {
  std::optional<SafeTensors> file;
  Sha256 sum;
  try {
    file.emplace(path);
    sum.update(file->data());
    if (file->metadata("format") != kFormat) throw data_error(fmt::format("{}: not a checkpoint", path));
    if (sum.hex() != file->metadata("sha256")) throw data_error(fmt::format("{}: damaged, its checksum differs", path));
  } catch (const Error& error) {
    throw DamagedCheckpoint(error.what());
  }
  if (file->metadata("version") != kFormatVersion) {
    throw data_error(fmt::format("{}: version {} of the checkpoint format, this program reads {}", path,
                                 file->metadata("version"), kFormatVersion));
  }
  return std::move(*file);
}

}  // namespace graphpae
