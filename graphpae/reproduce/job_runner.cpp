#include "graphpae/reproduce/job_runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "graphpae/core/machine.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/data/known_data.h"
#include "graphpae/io/child_process.h"
#include "graphpae/version.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

// A recipe and what differs from it. Of a file of settings all are said: what it leaves open would be filled in
// according to the data.
void append_settings(std::vector<std::string>& words, const Training& job) {
  const auto say = [&](const std::string& key, const std::string& value) {
    words.insert(words.end(), {"--set", key + "=" + value});
  };
  if (is_recipe_name(job.recipe)) {
    words.insert(words.end(), {"--recipe", job.recipe});
  } else {
    for (const auto& [key, value] : job.identity.settings) {
      if (!value.empty()) say(key, value);
    }
  }
  for (const auto& [key, value] : job.set) say(key, value);
}

bool trains_on_labels(const Training& job) {
  return job.identity.verb == "supervised" || job.identity.verb == "transfer";
}

int64_t count_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

// The kind of error a child's exit code says; internal for a signal.
ErrorKind kind_of(int exit_code) {
  return exit_code >= 1 && exit_code <= 5 ? static_cast<ErrorKind>(exit_code) : ErrorKind::internal;
}

}  // namespace

std::string JobRunner::child(std::vector<std::string> words, const std::string& place, std::function<void()> tick) {
  const int threads = work_.options().threads;
  if (threads > 0) words.insert(words.end(), {"--threads", std::to_string(threads)});
  words.insert(words.end(), {"-q", "--no-progress"});
  ChildOptions options;
  options.directory = work_.of_children();  // so that no name of data is a path here
  options.environment = {{"GRAPHPAE_DATA", place}};
  if (std::getenv("GRAPHPAE_CACHE") == nullptr)
    options.environment.emplace_back("GRAPHPAE_CACHE", work_.of_children() + "/cache");
  options.tick = std::move(tick);
  options.stop = [this] { return work_.watch().stopping(); };
  if (work_.watch().command) work_.watch().command(fmt::format("graphpae {}", fmt::join(words, " ")));
  ChildOutcome outcome = run_self(words, options);
  work_.watch().check();
  if (outcome.code != 0)
    throw JobFailure(kind_of(outcome.code), outcome.error.empty()
                                                ? fmt::format("`{}` ended with code {}", words.front(), outcome.code)
                                                : outcome.error);
  return std::move(outcome.out);
}

JobResult JobRunner::result_of(std::vector<std::string> words, const std::string& place, const std::string& metric,
                               std::function<void()> tick) {
  words.emplace_back("--json");
  const std::string verb = words.front();
  const auto result = job_result_of_verb(child(std::move(words), place, std::move(tick)), metric);
  if (!result) throw JobFailure(ErrorKind::internal, fmt::format("`{}` did not print its results", verb));
  return *result;
}

FoundData JobRunner::find(const std::vector<std::string>& names) {
  const std::string& directory = work_.options().data;
  const std::vector<std::string> places =
      directory.empty() ? default_fetch_options().places : std::vector<std::string>{directory};
  FoundData found{names.front(), "", ""};
  for (const std::string& name : names) {
    for (const std::string& place : places) {
      if (found.here() || !fs::exists(place + "/" + name)) continue;
      found.name = name;
      found.place = fs::absolute(place).lexically_normal().string();
    }
  }
  if (!found.here()) return found;
  std::string& hash = hashes_[found.place + "/" + found.name];
  if (hash.empty()) {
    try {
      hash = printed_data_hash(child({"info", found.name, "--offline", "--json"}, found.place));
      if (hash.empty()) throw JobFailure(ErrorKind::internal, "`info` did not print its results");
    } catch (const JobFailure& failure) {
      throw data_error(failure.what());
    }
  }
  found.hash = hash;
  return found;
}

JobCost JobRunner::guess(const Training& job, bool trial) {
  constexpr int64_t kTrialEpochs = 3;
  constexpr double kLongestTrial = 60;  // seconds
  constexpr double kLoading = 4;
  const std::string& place = job.data.place;
  if (trains_on_labels(job)) {
    std::vector<std::string> words = {"finetune", "none", job.data.name, "--offline", "--dry-run"};
    append_settings(words, job);
    const double all_parts = result_of(words, place).training_seconds;
    return {all_parts / static_cast<double>(std::max<int64_t>(1, job.identity.epochs())), kLoading};
  }
  std::vector<std::string> words = {"pretrain", job.data.name, "--offline"};
  append_settings(words, job);
  if (trial) words.insert(words.end(), {"--set", fmt::format("epochs={}", kTrialEpochs), "--set", "warmup=0"});
  std::vector<std::string> estimating = words;
  estimating.emplace_back("--dry-run");
  double per_epoch = result_of(estimating, place).seconds_per_epoch;
  if (trial && per_epoch * kTrialEpochs < kLongestTrial) {
    const std::string run = fmt::format("{}/runs/trial-{}-{}", work_.of_children(), job_key(job.identity), ::getpid());
    words.insert(words.end(), {"-o", run});
    const std::shared_ptr<void> remove(nullptr, [&](void*) { fs::remove_all(run); });
    per_epoch = result_of(words, place).seconds_per_epoch;
  }
  // Nothing is known of evaluation before one has been made; on small graphs it takes as long as so many epochs.
  constexpr double kEvaluation = 60;
  return {per_epoch, kLoading + kEvaluation * per_epoch};
}

JobResult JobRunner::train(std::vector<std::string> words, const Training& job, const std::string& label,
                           const std::string& metric) {
  const std::string run = work_.run(job_key(job.identity));
  append_settings(words, job);
  words.insert(words.end(), {"--offline", "-o", run, "--resume"});
  const int64_t epochs = job.identity.epochs(), before = count_lines(run + "/metrics.jsonl");
  const Stopwatch clock;
  Stopwatch since_report;
  const run::Watch& watch = work_.watch();
  watch.report({"epochs", before, epochs, before, label});
  const std::shared_ptr<void> end(nullptr, [&](void*) { watch.report({}); });  // however it ends
  JobResult result = result_of(std::move(words), job.data.place, metric, [&] {
    if (since_report.seconds() < 1) return;
    since_report.restart();
    watch.report({"epochs", count_lines(run + "/metrics.jsonl"), epochs, before, label});
  });
  // Earlier epochs took at least what they say themselves.
  result.seconds =
      std::max(result.training_seconds, clock.seconds() + static_cast<double>(before) * result.seconds_per_epoch);
  return result;
}

JobResult JobRunner::probe(const Job& job, const std::string& label) {
  JobResult result = train({"pretrain", job.data.name}, job, label);
  const Stopwatch clock;
  JobResult scores =
      result_of({"evaluate", work_.run(job_key(job.identity)), job.data.name, "--offline", "--protocol", job.protocol,
                 "--baselines", job.baselines ? "all" : "none", "--probe", "released"},  // as all records so far
                job.data.place);
  result.seconds += clock.seconds();
  result.metric = std::move(scores.metric);
  result.protocols = std::move(scores.protocols);
  return result;
}

JobResult JobRunner::finetune(const Job& job, const std::string& label) {
  std::string from = "none";
  if (job.pretrain) {
    // One process pre-trains; others that need the same wait.
    const std::string key = job_key(job.pretrain->identity);
    from = work_.run(key);
    const JobLock lock = work_.lock(key);
    if (!fs::exists(from + "/results.json"))
      train({"pretrain", job.pretrain->data.name, "--featurizer", "transfer"}, *job.pretrain, label + ", pre-training");
  }
  return train({"finetune", from, job.data.name}, job, label, job.metric);
}

Record JobRunner::run(const Job& job, const std::string& label) {
  Record record;
  static_cast<JobResult&>(record) = trains_on_labels(job) ? finetune(job, label) : probe(job, label);
  record.identity = job.identity;
  record.key = job_key(record.identity);
  record.threads = work_.options().threads > 0 ? work_.options().threads : all_threads().count;
  record.commit = build_commit();
  record.version = kVersion;
  record.machine = processor_name();
  record.date = time_stamp();
  return record;
}

}  // namespace graphpae
