#include "graphpae/reproduce/work_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::milliseconds kBetweenLooks{500};

}  // namespace

void WorkDirectory::create() const {
  std::error_code reason;
  for (const char* part : {"runs", "locks"}) {
    fs::create_directories(path + "/" + part, reason);
    if (reason) throw data_error(fmt::format("{}/{}: {}", path, part, reason.message()));
  }
}

WorkDirectory work_directory_of(const ReproduceOptions& options) {
  return {fs::absolute(options.output).lexically_normal().string(), options.keep_runs};
}

std::shared_ptr<const WorkDirectory> temporary_work_directory() {
  std::string place = (fs::temp_directory_path() / "graphpae-XXXXXX").string();
  if (::mkdtemp(place.data()) == nullptr) throw data_error(fmt::format("{}: cannot be made", place));
  return {new WorkDirectory{place, false}, [](const WorkDirectory* work) {
            std::error_code ignored;
            fs::remove_all(work->path, ignored);
            delete work;
          }};
}

std::vector<Record> all_records(const WorkDirectory& work, const ReproduceOptions& options) {
  std::vector<Record> records = ResultLog(work.results()).read();
  for (const std::string& path : options.results) {
    if (!fs::exists(path)) throw data_error(fmt::format("--results {}: no such file", path));
    const std::vector<Record> more = ResultLog(path).read();
    records.insert(records.end(), more.begin(), more.end());
  }
  return records;
}

bool is_done(const std::vector<Record>& records, const Job& job) {
  return std::any_of(records.begin(), records.end(),
                     [&](const Record& record) { return answers(record, job.identity); });
}

void share_jobs(const WorkDirectory& work, const std::vector<Job>& jobs, const JobWatch& watch,
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
    watch.check();
    std::optional<JobLock> lock;
    size_t next = 0;
    while (next < open.size() && !(lock = JobLock::try_take(work.lock(job_key(open[next].identity))))) ++next;
    if (!lock) {
      if (!waiting) watch.tell(fmt::format("{} of the jobs are being done by other processes: waiting", open.size()));
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

JobLock wait_for_lock(const std::string& path, const JobWatch& watch) {
  for (;;) {
    if (auto lock = JobLock::try_take(path)) return std::move(*lock);
    watch.check();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace graphpae
