#include "graphpae/reproduce/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "graphpae/core/error.h"
#include "graphpae/evaluate/statistics.h"
#include "graphpae/io/sha256.h"
#include "graphpae/settings/all_settings.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;  // of a line; a key depends on it

int64_t integer(const SettingList& settings, const std::string& key) {
  const std::string* text = find_setting(settings, key);
  return text == nullptr ? 0 : std::stoll(*text);
}

const SettingList& default_settings() {
  static const SettingList defaults = [] {
    AllSettings settings;
    OptionTable table;
    declare(table, settings);
    return setting_list(table);
  }();
  return defaults;
}

bool same_settings(const SettingList& record, const SettingList& job) {
  for (const auto& [key, value] : job) {
    const std::string* recorded = find_setting(record, key);
    if (recorded == nullptr) recorded = find_setting(default_settings(), key);
    if (recorded == nullptr || *recorded != value) return false;
  }
  return std::all_of(record.begin(), record.end(),
                     [&](const auto& setting) { return find_setting(job, setting.first) != nullptr; });
}

// The parts of a line that stand there as they are, before and after the seed and the epochs.
template <class R, class Visit>
void visit_names(R& r, const Visit& visit) {
  visit("experiment", r.experiment);
  visit("data", r.identity.data);
  visit("variant", r.variant);
  visit("verb", r.identity.verb);
}
template <class R, class Visit>
void visit_results(R& r, const Visit& visit) {
  visit("metric", r.metric);
  visit("protocols", r.protocols);
  visit("seconds", r.seconds);
  visit("training_seconds", r.training_seconds);
  visit("seconds_per_epoch", r.seconds_per_epoch);
  visit("peak_rss_bytes", r.peak_rss_bytes);
  visit("commit", r.commit);
  visit("version", r.version);
  visit("machine", r.machine);
  visit("threads", r.threads);
  visit("date", r.date);
  visit("key", r.key);
  visit("data_hash", r.identity.data_hash);
}

using Scores = std::vector<std::vector<double>>;

// Records and `evaluate` say the same, but for the name of the scores.
ProtocolRecord probe_record(const Json& json, const char* scores) {
  ProtocolRecord protocol;
  protocol.scores = json.at(scores).get<Scores>();
  if (json.contains("val") && json["val"].is_number()) protocol.validation = json["val"].get<double>();
  if (json.contains("baselines")) {
    for (const auto& [name, baseline] : json["baselines"].items())
      protocol.baselines[name] = {baseline.at("mean").get<double>(), baseline.at("std").get<double>()};
  }
  return protocol;
}

ProtocolRecord finetune_record(const Json& json, const std::string& metric) {
  ProtocolRecord protocol;
  if (json.contains("per_split")) {
    for (const double score : json["per_split"].get<std::vector<double>>()) protocol.scores.push_back({score});
  } else if (json.contains("tasks")) {
    std::vector<double> values;
    for (const Json& task : json["tasks"]) {
      if (!task.contains(metric) || !task[metric].is_number()) continue;
      values.push_back(task[metric].get<double>());
      protocol.targets[task.at("name").get<std::string>()] = values.back();
    }
    if (!values.empty()) protocol.scores = {{statistics(values).mean}};
  } else {
    protocol.scores = {{json.at("test_mean").get<double>()}};
  }
  if (json.contains("validation") && json["validation"].is_number())
    protocol.validation = json["validation"].get<double>();
  return protocol;
}

JobResult result_of_verb(const Json& json, const std::string& metric) {
  JobResult result;
  const auto name = [&](const char* key) { return json.at(key).get<std::string>(); };
  if (json.contains("per_split_and_seed")) {  // evaluate
    result.metric = name("metric");
    result.protocols[name("protocol")] = probe_record(json, "per_split_and_seed");
    if (json.contains("paper")) result.protocols["paper"] = probe_record(json["paper"], "per_split_and_seed");
    return result;
  }
  result.training_seconds = json.at("seconds").get<double>();
  result.seconds_per_epoch = json.at("seconds_per_epoch").get<double>();
  result.peak_rss_bytes = json.value("peak_rss_bytes", int64_t{0});
  if (json.contains("protocol")) {  // finetune
    result.metric = metric.empty() ? name("metric") : metric;
    result.protocols[name("protocol")] = finetune_record(json, result.metric);
  }
  return result;
}

bool same_work(const JobIdentity& a, const JobIdentity& b) {
  return a.verb == b.verb && a.data == b.data &&
         (a.data_hash.empty() || b.data_hash.empty() || a.data_hash == b.data_hash);
}

}  // namespace

std::optional<JobResult> job_result_of_verb(const std::string& printed, const std::string& metric) {
  try {
    return result_of_verb(Json::parse(printed), metric);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string printed_data_hash(const std::string& printed) {
  const Json json = Json::parse(printed, nullptr, false);
  return json.is_object() ? json.value("data_hash", std::string()) : "";
}

void to_json(Json& json, const ProtocolRecord& protocol) {
  json = {{"scores", protocol.scores}};
  if (!protocol.targets.empty()) json["targets"] = protocol.targets;
  if (protocol.validation) json["val"] = *protocol.validation;
  for (const auto& [name, baseline] : protocol.baselines)
    json["baselines"][name] = {{"mean", baseline.mean}, {"std", baseline.deviation}};
}

void from_json(const Json& json, ProtocolRecord& protocol) {
  protocol = probe_record(json, "scores");
  if (json.contains("targets")) json["targets"].get_to(protocol.targets);
}

int64_t JobIdentity::epochs() const { return integer(settings, "epochs"); }
int64_t JobIdentity::seed() const { return integer(settings, "seed"); }

int64_t shared_warmup(int64_t warmup, int64_t epochs, int64_t fewer) {
  return fewer < epochs ? warmup * fewer / epochs : warmup;
}

std::string job_key(const JobIdentity& job) {
  Sha256 sum;
  sum.update(fmt::format("{}\n{}\n{}\n{}\n{}\n", kFormat, job.verb, job.data, job.data_hash, job.from));
  for (const auto& [key, value] : job.settings) sum.update(fmt::format("{}={}\n", key, value));
  return sum.hex().substr(0, 24);
}

bool answers(const Record& record, const JobIdentity& job) {
  return same_work(record.identity, job) && record.identity.from == job.from &&
         same_settings(record.identity.settings, job.settings);
}

bool answers_but_for_seed_and_epochs(const Record& record, const JobIdentity& job) {
  const auto before_epochs = [](const std::string& from) { return from.substr(0, from.find(':')); };
  if (!same_work(record.identity, job) || before_epochs(record.identity.from) != before_epochs(job.from)) return false;
  const int64_t epochs = record.identity.epochs();
  SettingList as_recorded = job.settings;
  for (auto& [key, value] : as_recorded) {
    if (key == "seed") value = std::to_string(record.identity.seed());
    if (key == "epochs") value = std::to_string(epochs);
    if (key == "warmup") value = std::to_string(shared_warmup(std::stoll(value), job.epochs(), epochs));
  }
  return same_settings(record.identity.settings, as_recorded);
}

std::string to_json_line(const Record& r) {
  Json json = {{"format", kFormat}};
  const auto write = [&](const char* key, const auto& field) { json[key] = field; };
  visit_names(r, write);
  write("seed", r.identity.seed());
  write("epochs", r.identity.epochs());
  visit_results(r, write);
  if (!r.identity.from.empty()) write("from", r.identity.from);
  write("settings", Json::object());
  for (const auto& [key, value] : r.identity.settings) json["settings"][key] = value;
  return json.dump() + "\n";
}

std::optional<Record> record_from_json_line(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    if (json.at("format").get<int>() != kFormat) return std::nullopt;
    Record r;
    const auto read = [&](const char* key, auto& field) { json.at(key).get_to(field); };
    visit_names(r, read);
    visit_results(r, read);
    r.identity.from = json.value("from", std::string());
    for (const auto& [key, value] : json.at("settings").items())
      r.identity.settings.emplace_back(key, current_text(key, value.get<std::string>()));
    return r;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void append_to_log(const std::string& path, const Record& record) {
  const int file = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const auto fail = [&] {
    const std::string reason = std::strerror(errno);
    if (file >= 0) ::close(file);
    throw data_error(fmt::format("{}: {}", path, reason));
  };
  if (file < 0) fail();
  std::string line = to_json_line(record);
  // What a killed process left behind must not swallow this line.
  struct stat status {};
  char last = '\n';
  if (::fstat(file, &status) != 0) fail();
  if (status.st_size > 0 && ::pread(file, &last, 1, status.st_size - 1) == 1 && last != '\n') line = "\n" + line;
  const ssize_t written = ::write(file, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    if (written >= 0) errno = ENOSPC;
    fail();
  }
  if (::fsync(file) != 0) fail();
  ::close(file);
}

std::vector<Record> read_log(const std::string& path) {
  std::vector<Record> records;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (auto record = record_from_json_line(line)) records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace graphpae
