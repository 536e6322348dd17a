#include "graphpae/cli/reproduce_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "graphpae/cli/progress.h"
#include "graphpae/core/machine.h"
#include "graphpae/evaluate/statistics.h"
#include "graphpae/version.h"

namespace graphpae::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenLooks{500};
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A recipe and what differs from it. Of a file of settings all are said: what it leaves open would be filled in
// according to the data.
void append(std::vector<std::string>& words, const std::string& recipe, const SettingList& resolved,
            const SettingList& set) {
  const auto say = [&](const std::string& key, const std::string& value) {
    words.insert(words.end(), {"--set", key + "=" + value});
  };
  if (is_recipe_name(recipe)) {
    words.insert(words.end(), {"--recipe", recipe});
  } else {
    for (const auto& [key, value] : resolved) {
      if (!value.empty()) say(key, value);
    }
  }
  for (const auto& [key, value] : set) say(key, value);
}

ProtocolRecord protocol_record(const Json& json) {
  ProtocolRecord protocol;
  protocol.scores = json.at("per_split_and_seed").get<std::vector<std::vector<double>>>();
  if (json.contains("val") && json["val"].is_number()) protocol.validation = json["val"].get<double>();
  if (json.contains("baselines")) {
    for (const auto& [name, baseline] : json["baselines"].items())
      protocol.baselines[name] = {baseline.at("mean").get<double>(), baseline.at("std").get<double>()};
  }
  return protocol;
}

// Scores of fine-tuning. A metric of a row is looked up in every task, and the mean taken.
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

// Trains on labels.
bool is_labelled(const Job& job) { return job.identity.verb == "supervised" || job.identity.verb == "transfer"; }

int64_t count_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

}  // namespace

void Workshop::create() const {
  std::error_code reason;
  for (const char* part : {"runs", "locks"}) {
    fs::create_directories(directory + "/" + part, reason);
    if (reason) throw data_error(fmt::format("{}/{}: {}", directory, part, reason.message()));
  }
}

ErrorKind kind_of(int exit_code) {
  return exit_code >= 1 && exit_code <= 5 ? static_cast<ErrorKind>(exit_code) : ErrorKind::internal;
}

bool is_done(const std::vector<Record>& records, const Job& job) {
  return std::any_of(records.begin(), records.end(),
                     [&](const Record& record) { return answers(record, job.identity); });
}

void share_jobs(const Workshop& workshop, const std::vector<Job>& jobs, const GracefulStop& stop,
                const std::function<std::vector<Record>()>& records,
                const std::function<void(const Job& job, size_t number, size_t total)>& run) {
  std::vector<Job> open = jobs;
  const auto drop_done = [&] {
    const std::vector<Record> known = records();
    std::erase_if(open, [&](const Job& job) { return is_done(known, job); });
  };
  drop_done();
  bool waiting = false;
  while (!open.empty()) {
    if (stop.requested()) throw Error(ErrorKind::interrupted, "interrupted");
    std::optional<JobLock> lock;
    size_t next = 0;
    while (next < open.size() && !(lock = JobLock::try_take(workshop.lock(job_key(open[next].identity))))) ++next;
    if (!lock) {
      if (!waiting) spdlog::info("{} of the jobs are being done by other processes: waiting", open.size());
      waiting = true;
      std::this_thread::sleep_for(kBetweenLooks);
      drop_done();
      continue;
    }
    waiting = false;
    const Job job = open[next];
    const size_t before = open.size();
    drop_done();  // another process may have finished it since we looked
    if (open.size() < before) continue;
    open.erase(open.begin() + static_cast<int64_t>(next));
    run(job, jobs.size() - open.size(), jobs.size());
  }
}

JobLock wait_for_lock(const std::string& path, const GracefulStop& stop) {
  for (;;) {
    if (auto lock = JobLock::try_take(path)) return std::move(*lock);
    if (stop.requested()) throw Error(ErrorKind::interrupted, "interrupted");
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

ChildOutcome JobRunner::child(std::vector<std::string> words, const std::string& place, std::function<void()> tick) {
  if (common_.threads > 0) words.insert(words.end(), {"--threads", std::to_string(common_.threads)});
  words.insert(words.end(), {"-q", "--no-progress"});
  ChildOptions options;
  options.directory = workshop_.directory;  // so that no name of data is a path here
  options.environment = {{"GRAPHPAE_DATA", place}};
  if (std::getenv("GRAPHPAE_CACHE") == nullptr)
    options.environment.emplace_back("GRAPHPAE_CACHE", workshop_.directory + "/cache");
  options.tick = std::move(tick);
  spdlog::debug("graphpae {}", fmt::join(words, " "));
  const ChildOutcome outcome = run_self(words, options, stop_);
  if (stop_.requested()) throw Error(ErrorKind::interrupted, "interrupted");
  if (outcome.code != 0)
    throw JobFailure(outcome.code, outcome.error.empty()
                                       ? fmt::format("`{}` ended with code {}", words.front(), outcome.code)
                                       : outcome.error);
  return outcome;
}

Json JobRunner::json_of(std::vector<std::string> words, const std::string& place, std::function<void()> tick) {
  words.emplace_back("--json");
  const std::string verb = words.front();
  Json json = Json::parse(child(std::move(words), place, std::move(tick)).out, nullptr, false);
  if (!json.is_object()) throw JobFailure(1, fmt::format("`{}` did not print its results", verb));
  return json;
}

FoundData JobRunner::find(const std::vector<std::string>& names, const std::vector<std::string>& places, bool read) {
  FoundData found{names.front(), "", ""};
  for (const std::string& name : names) {
    for (const std::string& place : places) {
      if (found.here() || !fs::exists(place + "/" + name)) continue;
      found.name = name;
      found.place = fs::absolute(place).lexically_normal().string();
    }
  }
  if (!found.here() || !read) return found;
  std::string& hash = hashes_[found.place + "/" + found.name];
  if (hash.empty()) {
    try {
      hash = json_of({"info", found.name, "--offline"}, found.place).at("data_hash").get<std::string>();
    } catch (const JobFailure& failure) {
      throw data_error(failure.what());
    }
  }
  found.hash = hash;
  return found;
}

JobCost JobRunner::guess(const Job& job, const FoundData& data, bool trial) {
  constexpr int64_t kTrialEpochs = 3;
  constexpr double kLongestTrial = 60;  // seconds
  constexpr double kLoading = 4;
  if (is_labelled(job)) {
    std::vector<std::string> words = {"finetune", "none", data.name, "--offline", "--dry-run"};
    append(words, job.recipe, job.identity.settings, job.set);
    const double all_parts = json_of(words, data.place).at("seconds").get<double>();
    return {all_parts / static_cast<double>(std::max<int64_t>(1, job.identity.epochs())), kLoading};
  }
  std::vector<std::string> words = {"pretrain", data.name, "--offline"};
  SettingList set = job.set;
  if (trial) set.insert(set.end(), {{"epochs", std::to_string(kTrialEpochs)}, {"warmup", "0"}});
  append(words, job.recipe, job.identity.settings, set);
  std::vector<std::string> estimating = words;
  estimating.emplace_back("--dry-run");
  double per_epoch = json_of(estimating, data.place).at("seconds_per_epoch").get<double>();
  if (trial && per_epoch * kTrialEpochs < kLongestTrial) {
    const std::string place = workshop_.run(fmt::format("trial-{}-{}", job_key(job.identity), ::getpid()));
    words.insert(words.end(), {"-o", place});
    const std::shared_ptr<void> remove(nullptr, [&](void*) { fs::remove_all(place); });
    per_epoch = json_of(words, data.place).at("seconds_per_epoch").get<double>();
  }
  // Nothing is known of evaluation before one has been made; on small graphs it takes as long as so many epochs.
  constexpr double kEvaluation = 60;
  return {per_epoch, kLoading + kEvaluation * per_epoch};
}

Json JobRunner::train(const std::string& verb, std::vector<std::string> words, const std::string& key,
                      const std::string& place, int64_t epochs, const std::string& label) {
  words.insert(words.begin(), verb);
  words.insert(words.end(), {"--offline", "-o", workshop_.run(key), "--resume"});
  const std::string metrics = workshop_.run(key) + "/metrics.jsonl";
  const int64_t first = count_lines(metrics);
  Progress progress(common_, "epochs", epochs, first);
  const auto start = Clock::now();
  auto looked = start;
  Json results = json_of(std::move(words), place, [&] {
    if (seconds_since(looked) < 1) return;
    looked = Clock::now();
    progress.update(count_lines(metrics), label);
  });
  // Earlier epochs took at least what they say themselves.
  const double per_epoch = results.at("seconds_per_epoch").get<double>();
  results["wall_seconds"] =
      std::max(results.at("seconds").get<double>(), seconds_since(start) + static_cast<double>(first) * per_epoch);
  return results;
}

Record JobRunner::probe(const Job& job, const std::string& key, const FoundData& data, bool baselines,
                        const std::string& protocol, const std::string& label) {
  std::vector<std::string> words = {data.name};
  append(words, job.recipe, job.identity.settings, job.set);
  const Json training = train("pretrain", words, key, data.place, job.identity.epochs(), label);
  const auto start = Clock::now();
  const Json scores = json_of({"evaluate", workshop_.run(key), data.name, "--offline", "--protocol", protocol,
                               "--baselines", baselines ? "all" : "none"},
                              data.place);
  Record record;
  record.training_seconds = training.at("seconds").get<double>();
  record.seconds = training.at("wall_seconds").get<double>() + seconds_since(start);
  record.seconds_per_epoch = training.at("seconds_per_epoch").get<double>();
  record.peak_rss_bytes = training.at("peak_rss_bytes").get<int64_t>();
  record.metric = scores.at("metric").get<std::string>();
  record.protocols[scores.at("protocol").get<std::string>()] = protocol_record(scores);
  if (scores.contains("paper")) record.protocols["paper"] = protocol_record(scores["paper"]);
  return record;
}

Record JobRunner::finetune(const Job& job, const std::string& key, const FoundData& data,
                           const FoundData& pretrain_data, const std::string& label, const std::string& metric) {
  std::string from = "none";
  if (job.pretrain) {
    // One process pre-trains; others that need the same wait.
    const std::string pretrain_key = job_key(*job.pretrain);
    from = workshop_.run(pretrain_key);
    const JobLock lock = wait_for_lock(workshop_.lock(pretrain_key), stop_);
    if (!fs::exists(from + "/results.json")) {
      std::vector<std::string> words = {pretrain_data.name, "--featurizer", "transfer"};
      append(words, job.pretrain_recipe, job.pretrain->settings, job.pretrain_set);
      train("pretrain", words, pretrain_key, pretrain_data.place, job.pretrain->epochs(), label + ", pre-training");
    }
  }
  std::vector<std::string> words = {from, data.name};
  append(words, job.recipe, job.identity.settings, job.set);
  const Json results = train("finetune", words, key, data.place, job.identity.epochs(), label);
  Record record;
  record.training_seconds = results.at("seconds").get<double>();
  record.seconds = results.at("wall_seconds").get<double>();
  record.seconds_per_epoch = results.at("seconds_per_epoch").get<double>();
  record.peak_rss_bytes = results.at("peak_rss_bytes").get<int64_t>();
  record.metric = metric.empty() ? results.at("metric").get<std::string>() : metric;
  record.protocols[results.at("protocol").get<std::string>()] = finetune_record(results, record.metric);
  return record;
}

Record JobRunner::run(const Job& job, const FoundData& data, const FoundData& pretrain_data, bool baselines,
                      const std::string& protocol, const std::string& label, const std::string& metric) {
  const std::string key = job_key(job.identity);
  Record record = is_labelled(job) ? finetune(job, key, data, pretrain_data, label, metric)
                                   : probe(job, key, data, baselines, protocol, label);
  record.identity = job.identity;
  record.key = key;
  record.threads = common_.thread_count().count;
  record.commit = build_commit();
  record.version = kVersion;
  record.machine = processor_name();
  record.date = time_stamp();
  return record;
}

void JobRunner::clean(const Job& job) const {
  if (workshop_.keep_runs) return;
  std::error_code ignored;
  fs::remove_all(workshop_.run(job_key(job.identity)), ignored);
}

}  // namespace graphpae::cli
