#include "graphpae/reproduce/work_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
constexpr std::chrono::milliseconds kBetweenLooks{500};

}  // namespace

JobLock try_lock(const std::string& path) {
  // Inherited by children on purpose: one that outlives us still writes into the directory of its run.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
  if (file < 0) throw data_error(fmt::format("{}: {}", path, std::strerror(errno)));
  JobLock lock(new int(file), [](const int* held) {
    ::close(*held);
    delete held;
  });
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return nullptr;
  throw data_error(fmt::format("{}: cannot be locked: {}", path, std::strerror(errno)));
}

WorkDirectory::WorkDirectory(const ReproduceOptions& options, const JobWatch& watch)
    : options_(options),
      watch_(watch),
      path_(fs::absolute(options.output).lexically_normal().string()),
      of_children_(path_) {
  if (options.dry_run) {
    of_children_ = (fs::temp_directory_path() / "graphpae-XXXXXX").string();
    if (::mkdtemp(of_children_.data()) == nullptr) throw data_error(fmt::format("{}: cannot be made", of_children_));
    return;
  }
  std::error_code reason;
  for (const char* part : {"runs", "locks"}) {
    fs::create_directories(path_ + "/" + part, reason);
    if (reason) throw data_error(fmt::format("{}/{}: {}", path_, part, reason.message()));
  }
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  if (options_.dry_run) fs::remove_all(of_children_, ignored);
}

std::vector<Record> WorkDirectory::records() const {
  std::vector<Record> records = read_log(path_ + "/results.jsonl");
  for (const std::string& path : options_.results) {
    if (!fs::exists(path)) throw data_error(fmt::format("--results {}: no such file", path));
    const std::vector<Record> more = read_log(path);
    records.insert(records.end(), more.begin(), more.end());
  }
  return records;
}

void WorkDirectory::finish(const Record& record) const {
  append_to_log(path_ + "/results.jsonl", record);
  std::error_code ignored;
  if (!options_.keep_runs) fs::remove_all(run(record.key), ignored);
}

JobLock WorkDirectory::lock(const std::string& name) const {
  for (;;) {
    if (JobLock lock = try_lock(path_ + "/locks/" + name)) return lock;
    watch_.check();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Json WorkDirectory::plan(const std::string& name, const Json& question,
                         const std::function<bool(Json& plan)>& make) const {
  const std::string path = fmt::format("{}/plans/{}.json", path_, name);
  // One process plans; others that share the work wait for what it finds.
  const JobLock held = options_.dry_run ? nullptr : lock("plan-" + name);
  Json plan = fs::exists(path) ? Json::parse(read_file(path, 1 << 20), nullptr, false) : Json();
  if (plan.is_object() && plan.value("question", Json()) == question) return plan;
  plan = {{"question", question}};
  if (make(plan) && !options_.dry_run) {
    fs::create_directories(fs::path(path).parent_path());
    write_file(path, plan.dump(2) + "\n");
  }
  return plan;
}

void WorkDirectory::share(const std::vector<Job>& jobs,
                          const std::function<void(const Job& job, size_t number, size_t total)>& run) const {
  std::vector<Job> open = jobs;
  const auto drop_done = [&] {
    const std::vector<Record> known = records();
    std::erase_if(open, [&](const Job& job) { return is_done(known, job); });
  };
  drop_done();
  bool waiting = false;
  while (!open.empty()) {
    watch_.check();
    JobLock lock;
    size_t next = 0;
    while (next < open.size() && !(lock = try_lock(path_ + "/locks/" + job_key(open[next].identity)))) ++next;
    if (!lock) {
      if (!waiting) watch_.tell(fmt::format("{} of the jobs are being done by other processes: waiting", open.size()));
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

bool is_done(const std::vector<Record>& records, const Job& job) {
  return std::any_of(records.begin(), records.end(),
                     [&](const Record& record) { return answers(record, job.identity); });
}

}  // namespace graphpae
