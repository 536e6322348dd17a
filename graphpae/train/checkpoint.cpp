#include "graphpae/train/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graphpae/io/sha256.h"
#include "graphpae/train/optimiser.h"
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

EpochMetrics Resumable::end_epoch(const std::vector<std::string>& terms) {
  EpochMetrics metrics{epoch_ + 1, {}, learning_rate(settings_, epoch_), sums_.seconds};
  for (size_t k = 0; k < terms.size(); ++k)
    metrics.terms.emplace_back(terms[k], sums_.terms[k] / static_cast<double>(std::max<int64_t>(sums_.steps, 1)));
  ++epoch_;
  step_ = 0;
  sums_ = {0, std::vector<double>(terms.size()), 0};
  return metrics;
}

std::map<std::string, std::string> Resumable::progress_texts(const std::string& data) const {
  return {{"epoch", std::to_string(epoch_)},
          {"step", std::to_string(step_)},
          {"sums", fmt::format("{} {} {}", sums_.steps, fmt::join(sums_.terms, " "), sums_.seconds)},
          {"data", data}};
}

int64_t Resumable::epochs_begun(const SafeTensors& checkpoint) {
  return std::stoll(checkpoint.metadata("epoch")) + (std::stoll(checkpoint.metadata("step")) > 0 ? 1 : 0);
}

void Resumable::take_progress(const SafeTensors& checkpoint) {
  epoch_ = std::stoll(checkpoint.metadata("epoch"));
  step_ = std::stoll(checkpoint.metadata("step"));
  const std::string sums = checkpoint.metadata("sums");
  char* rest = const_cast<char*>(sums.c_str());
  sums_.steps = std::strtoll(rest, &rest, 10);
  // Numbers were printed so that they read back to the same bits.
  for (double& sum : sums_.terms) sum = std::strtod(rest, &rest);
  sums_.seconds = std::strtod(rest, &rest);
}

void write_checkpoint(const std::string& path, std::map<std::string, std::string> texts,
                      const std::vector<SafeTensorView>& tensors) {
  texts.insert(
      {{"format", kFormat}, {"version", kFormatVersion}, {"graphpae", kVersion}, {"sha256", checksum(tensors)}});
  write_safetensors(path, texts, tensors);
}

bool extends(const Settings& now, const Settings& then, int64_t epochs) {
  Settings adapted = then;
  adapted.epochs = now.epochs;
  adapted.restarts = now.restarts;
  if (to_yaml(adapted) != to_yaml(now)) return false;
  for (int64_t e = 0; e < epochs; ++e) {
    if (learning_rate(then, e) != learning_rate(now, e)) return false;
  }
  return true;
}

SafeTensors open_checkpoint(const std::string& path, const std::string& data) {
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
  if (file->metadata("data") != data)
    throw data_error(fmt::format("{}: belongs to other data (hash {}, now {})", path, file->metadata("data"), data));
  return std::move(*file);
}

}  // namespace graphpae
