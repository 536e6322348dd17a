#include "graphpae/run/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/core/machine.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/process_lock.h"
#include "graphpae/version.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kOwned[] = {
    "config.yaml", "environment.json", "metrics.jsonl", "checkpoints",    "model",           "results.json",
    "report.html", "map.json",         "metrics.csv",   "tensorboard",    "spectrum",        "splits",
    "targets",     "choices",          "pretraining",   "embeddings.npy", "predictions.csv", "test_predictions.csv"};
constexpr size_t kKeptCheckpoints = 2;
constexpr const char* kLock = "run.lock";

std::string to_line(const EpochMetrics& m) {
  Json json = {{"epoch", m.epoch}};
  for (const auto& [name, value] : m.terms) json[name] = value;  // NaN, a term that is off, is written as null
  json["lr"] = m.lr;
  json["seconds"] = m.seconds;
  return json.dump();
}

std::optional<EpochMetrics> from_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("epoch") || !json["epoch"].is_number_integer()) return std::nullopt;
  EpochMetrics metrics{json["epoch"].get<int64_t>(), {}, std::nan(""), std::nan("")};
  for (const auto& [key, value] : json.items()) {
    if (key == "epoch" || !(value.is_number() || value.is_null())) continue;
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (key == "lr")
      metrics.lr = number;
    else if (key == "seconds")
      metrics.seconds = number;
    else
      metrics.terms.emplace_back(key, number);
  }
  return metrics;
}

bool is_unfinished(const fs::path& file) { return file.filename().string().find(".partial-") != std::string::npos; }

// Nothing in it but what a run leaves that was killed before it began.
bool is_vacant(const std::string& path) {
  return std::all_of(fs::directory_iterator(path), fs::directory_iterator(), [](const fs::directory_entry& entry) {
    const bool no_checkpoints = entry.path().filename() == "checkpoints" && entry.is_directory() && fs::is_empty(entry);
    return no_checkpoints || is_unfinished(entry.path()) || entry.path().filename() == kLock;
  });
}

std::shared_ptr<ProcessLock> lock_of(const std::string& path, const std::string& command) {
  return std::make_shared<ProcessLock>(path + "/" + kLock, path, command);
}

// What a killed program was writing.
void remove_unfinished(const std::string& path) {
  std::vector<fs::path> unfinished;
  for (const char* directory : {"", "/checkpoints", "/model"}) {
    if (!fs::is_directory(path + directory)) continue;
    for (const auto& entry : fs::directory_iterator(path + directory)) {
      if (is_unfinished(entry.path())) unfinished.push_back(entry.path());
    }
  }
  std::error_code ignored;
  for (const fs::path& file : unfinished) fs::remove_all(file, ignored);
}

}  // namespace

void RunDirectory::discard_unstarted() const {
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(path_, ignored)) {
    if (entry.path().extension() == ".safetensors") return;
  }
  for (const char* name : kOwned) fs::remove_all(file(name), ignored);
  if (lock_) lock_->release();
  fs::remove(path_, ignored);  // fails if other files are there
}

bool RunDirectory::holds_run(const std::string& path) { return fs::exists(path + "/config.yaml"); }

RunDirectory RunDirectory::create(const std::string& path, bool force, const std::string& command) {
  std::error_code reason;
  if (fs::exists(path, reason) && !fs::is_directory(path))
    throw usage_error(fmt::format("{}: exists and is not a directory", path));
  // A directory of something else is left as it is, without a lock.
  const bool ours = !fs::exists(path) || force || is_vacant(path) || fs::exists(path + "/" + kLock);
  fs::create_directories(path, reason);
  if (reason) throw data_error(fmt::format("{}: {}", path, reason.message()));
  const auto lock = ours ? lock_of(path, command) : nullptr;
  if (!is_vacant(path)) {
    if (!force) {
      throw usage_error(holds_run(path)
                            ? fmt::format("{}: holds a run; --resume goes on with it, --force starts anew", path)
                            : fmt::format("{}: exists and is not empty (use --force to write into it)", path));
    }
    for (const char* name : kOwned) fs::remove_all(fs::path(path) / name, reason);
  }
  remove_unfinished(path);
  fs::create_directories(path + "/checkpoints", reason);
  if (reason) throw data_error(fmt::format("{}: {}", path, reason.message()));
  return RunDirectory(path, lock);
}

RunDirectory RunDirectory::open(const std::string& path, const std::string& command) {
  if (!holds_run(path)) throw data_error(fmt::format("{}: no run directory, it has no config.yaml", path));
  const auto lock = lock_of(path, command);
  remove_unfinished(path);
  std::error_code ignored;
  fs::create_directories(path + "/checkpoints", ignored);
  return RunDirectory(path, lock);
}

Settings RunDirectory::settings_of(const std::string& path) {
  const std::string config = path + "/config.yaml";
  return settings_from_yaml(read_file(config, 1 << 20), config);
}

void RunDirectory::append(const EpochMetrics& metrics) {
  const std::string path = file("metrics.jsonl"), line = to_line(metrics) + "\n";
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) throw data_error(fmt::format("{}: {}", path, std::strerror(errno)));
  const ssize_t written = ::write(descriptor, line.data(), line.size());
  const int reason = written < 0 ? errno : ENOSPC;
  ::close(descriptor);
  if (written != static_cast<ssize_t>(line.size()))
    throw data_error(fmt::format("{}: {}", path, std::strerror(reason)));
}

std::vector<EpochMetrics> RunDirectory::rewind_metrics(int64_t epoch) {
  const std::string path = file("metrics.jsonl");
  std::vector<EpochMetrics> kept;
  std::string text;
  if (fs::exists(path)) {
    LineReader reader(path);
    for (std::string_view line; reader.next(line);) {
      const auto record = from_line(line);
      if (!record || record->epoch > epoch) break;
      kept.push_back(*record);
      text += std::string(line) + "\n";
    }
  }
  write_file(path, text);
  return kept;
}

std::vector<std::string> RunDirectory::checkpoints() const {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(path_ + "/checkpoints")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("epoch-") && name.ends_with(".safetensors")) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());  // numbers are padded, and ".safetensors" comes before ".step-"
  return paths;
}

void RunDirectory::save_checkpoint(const Resumable& trainer, const std::string& data) {
  const std::string step = trainer.step() > 0 ? fmt::format(".step-{:08}", trainer.step()) : "";
  trainer.save(fmt::format("{}/checkpoints/epoch-{:08}{}.safetensors", path_, trainer.epoch(), step), data);
  const std::vector<std::string> paths = checkpoints();
  std::error_code ignored;
  for (size_t k = 0; k + kKeptCheckpoints < paths.size(); ++k) fs::remove(paths[k], ignored);
}

bool RunDirectory::restore_checkpoint(Resumable& trainer, const std::string& data,
                                      std::vector<std::string>& notes) const {
  const std::vector<std::string> paths = checkpoints();
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {
    try {
      trainer.restore(*path, data);
      return true;
    } catch (const DamagedCheckpoint& damage) {
      notes.push_back(fmt::format("{}; an earlier checkpoint is used", damage.what()));
    }
  }
  return false;
}

}  // namespace graphpae

namespace graphpae::run {
namespace {

// What an environment.json that is there already says about the command that began the run.
Json first_command(const std::string& path) {
  std::ifstream file(path);
  const Json json = file ? Json::parse(file, nullptr, false) : Json();
  Json first = Json::object();
  if (!json.is_object() || !json.contains("command")) return first;
  for (const char* key : {"command", "again", "directory"}) {
    first[key] = json.contains(key) ? json[key] : Json();
  }
  return first;
}

}  // namespace

void write_environment(const RunDirectory& run, const std::string& data, const std::string& data_hash,
                       const Context& context, const nlohmann::ordered_json& more) {
  const std::string path = run.file("environment.json");
  Json json = {{"version", kVersion},
               {"commit", build_commit()},
               {"libtorch", TORCH_VERSION},
               {"compiler", __VERSION__},
               {"processor", processor_name()},
               {"processors", all_threads().count},
               {"threads", context.threads.count},
               {"memory_available", available_memory()},
               {"kernels", context.kernels == Kernels::fused ? "fused" : "reference"},
               {"command", context.command},
               {"again", context.again},
               {"directory", fs::current_path().string()},
               {"data", data},
               {"data_hash", data_hash},
               {"started", time_stamp()}};
  json.update(first_command(path));
  json.update(more);
  write_file(path, json.dump(2) + "\n");
}

template <class S>
std::optional<SettingDifference> setting_difference(S first, S second) {
  OptionTable a, b;
  declare(a, first);
  declare(b, second);
  for (size_t k = 0; k < a.options().size(); ++k) {
    const std::string one = a.options()[k].print(), other = b.options()[k].print();
    if (one != other) return SettingDifference{a.options()[k].key, one, other};
  }
  return std::nullopt;
}

Settings with_choices_of(const Settings& begun, Settings asked) {
  if (asked.node_features == FeatureSource::automatic) asked.node_features = begun.node_features;
  if (asked.scale == Scale::automatic) asked.scale = begun.scale;
  return asked;
}

template <class S>
void check_repeats(const std::string& run, const S& has, const S& asked) {
  if (const auto difference = setting_difference(has, asked))
    throw usage_error(fmt::format("{}: the run has {}={}, the command line says {}", run, difference->key,
                                  difference->first, difference->second));
}

template std::optional<SettingDifference> setting_difference(Settings, Settings);
template void check_repeats(const std::string&, const Settings&, const Settings&);
template void check_repeats(const std::string&, const FinetuneSettings&, const FinetuneSettings&);

Settings settings_to_go_on(const RunOptions& options, const Settings& has, Settings asked) {
  Settings settings = has;
  if (options.prolongs && asked.epochs > has.epochs) {
    prolong(settings, asked.epochs);
    if (asked.restarts.empty() || asked.restarts == has.restarts) asked.restarts = settings.restarts;
  }
  if (asked.epochs > settings.epochs)
    throw usage_error(fmt::format("{}: the run has epochs={}, recipe or file say {}; --epochs {} prolongs it",
                                  options.run, has.epochs, asked.epochs, asked.epochs));
  check_repeats(options.run, settings, asked);
  return settings;
}

std::string prolonged_text(const Settings& has, const Settings& prolonged) {
  return fmt::format("prolonged from {} to {} epochs{}", has.epochs, prolonged.epochs,
                     prolonged.restarts.size() > has.restarts.size()
                         ? fmt::format("; the learning rate begins anew at {} after epoch {} (warm restart)",
                                       prolonged.lr, prolonged.restarts.back())
                         : "");
}

std::string reading_yaml(const std::string& featurizer) {
  return featurizer.empty() ? "" : fmt::format("featurizer: {}\n", featurizer);
}

}  // namespace graphpae::run
