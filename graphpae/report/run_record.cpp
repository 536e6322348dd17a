#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "graphpae/core/error.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"
#include "graphpae/report/run_report.h"
#include "graphpae/version.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kLongestRecord = size_t{64} << 20;

void add_settings(const YAML::Node& node, const std::string& prefix, RunRecord& record) {
  for (const auto& entry : node) {
    const std::string key = prefix + entry.first.as<std::string>();
    if (entry.second.IsMap())
      add_settings(entry.second, key + ".", record);
    else if (entry.second.IsScalar())
      record.settings.emplace_back(key, entry.second.as<std::string>());
    else
      record.settings.emplace_back(key, "");
  }
}

void read_settings(RunRecord& record) {
  const std::string path = record.path + "/config.yaml";
  try {
    const YAML::Node root = YAML::Load(read_file(path, kLongestRecord));
    if (!root.IsMap()) throw data_error(path + ": expected lines of the form `key: value`");
    add_settings(root, "", record);
  } catch (const YAML::Exception& error) {
    throw data_error(fmt::format("{}:{}: {}", path, error.mark.line + 1, error.msg));
  }
}

// Null if there is no such file; a file that cannot be read is said to be so.
Json read_object(RunRecord& record, const std::string& name) {
  const std::string path = record.path + "/" + name;
  if (!fs::exists(path)) return {};
  const Json json = Json::parse(read_file(path, kLongestRecord), nullptr, false);
  if (json.is_object()) return json;
  record.notes.push_back(fmt::format("{} cannot be read: it is not a JSON object.", name));
  return {};
}

// splits/0, splits/1, ... in order of their numbers, or targets/* by name.
std::vector<std::pair<std::string, std::string>> part_directories(const std::string& run) {
  std::vector<std::pair<std::string, std::string>> found;  // path, name
  for (const char* kind : {"splits", "targets"}) {
    if (!fs::is_directory(run + "/" + kind)) continue;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(run + "/" + kind)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    for (const std::string& name : names)
      found.emplace_back(fmt::format("{}/{}/{}", run, kind, name),
                         std::string(kind) == "splits" ? "split " + name : name);
  }
  return found;
}

// What the program found wrong with the embeddings after training (run/checks.h).
void note_checks(RunRecord& record) {
  if (!record.results.is_object() || !record.results.contains("checks")) return;
  const Json& checks = record.results["checks"];
  if (!checks.is_object() || !checks.contains("findings") || !checks["findings"].is_array()) return;
  for (const Json& finding : checks["findings"]) {
    if (finding.is_object() && finding.value("text", Json()).is_string())
      record.notes.push_back("Check: " + finding["text"].get<std::string>() + ".");
  }
}

void note_state(RunRecord& record) {
  int64_t unreadable = 0;
  for (const auto& part : record.parts) unreadable += part.metrics.unreadable;
  if (unreadable > 0)
    record.notes.push_back(fmt::format("{} line{} of metrics.jsonl cannot be read and {} left out.", unreadable,
                                       unreadable == 1 ? "" : "s", unreadable == 1 ? "is" : "are"));
  const int64_t planned = record.epochs_planned();
  if (record.finished()) {
    const auto& counted = record.results["epochs"];
    const int64_t known = counted.is_number_integer() ? counted.get<int64_t>() : record.epochs_done();
    if (record.epochs_done() > known)
      record.notes.push_back(
          fmt::format("This run is being prolonged to {} epochs, of which {} are done. Results are those "
                      "after {}. --resume goes on with it.",
                      planned, record.epochs_done(), known));
    return;
  }
  record.notes.push_back(
      fmt::format("This run is not finished: it was interrupted, or is still under way. {}{} epochs are done; what is "
                  "there is shown. --resume goes on with it.",
                  record.epochs_done(), planned > 0 ? fmt::format(" of {}", planned) : ""));
}

}  // namespace

std::string RunRecord::method() const {
  const std::string* said = find_setting(settings, "method");
  return said == nullptr ? "graphpae" : *said;
}

std::string RunRecord::environment_text(const std::string& key) const {
  if (!environment.is_object() || !environment.contains(key)) return "";
  const Json& value = environment[key];
  return value.is_string() ? value.get<std::string>() : value.dump();
}

int64_t RunRecord::epochs_done() const {
  int64_t done = 0;
  for (const Part& part : parts) {
    if (!part.metrics.epochs.empty()) done = std::max(done, part.metrics.epochs.back());
  }
  return done;
}

int64_t RunRecord::epochs_planned() const {
  int64_t planned = 0;
  if (const std::string* text = find_setting(settings, "epochs"))
    std::from_chars(text->data(), text->data() + text->size(), planned);
  return planned;
}

bool is_newer(const std::string& other, const std::string& own) {
  const auto numbers = [](const std::string& text) {
    std::pair<int, int> version{0, 0};
    std::sscanf(text.c_str(), "%d.%d", &version.first, &version.second);
    return version;
  };
  return numbers(other) > numbers(own);
}

RunRecord read_run(const std::string& path) {
  if (!fs::exists(path)) throw data_error(fmt::format("{}: does not exist; expected a run directory", path));
  if (!fs::exists(path + "/config.yaml"))
    throw data_error(fmt::format("{}: no run directory, it has no config.yaml", path));
  RunRecord record;
  record.path = path;
  record.name = file_name(fs::absolute(path).lexically_normal().string());
  record.environment = read_object(record, "environment.json");
  if (record.environment.is_object() && record.environment.contains("version") &&
      record.environment["version"].is_string()) {
    const std::string version = record.environment["version"];
    if (is_newer(version, kVersion))
      throw data_error(fmt::format("{}: was made by graphpae {}, this is version {}: use that version or a newer one",
                                   path, version, kVersion));
  }
  read_settings(record);
  record.results = read_object(record, "results.json");
  const auto parts = part_directories(path);
  for (const auto& [directory, name] : parts)
    record.parts.push_back({name, read_metrics(directory + "/metrics.jsonl"), directory});
  if (parts.empty()) record.parts.push_back({"", read_metrics(path + "/metrics.jsonl"), path});
  note_checks(record);
  note_state(record);
  return record;
}

}  // namespace graphpae
