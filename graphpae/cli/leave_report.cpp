#include "graphpae/cli/leave_report.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "graphpae/cli/progress.h"
#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/report/make_map.h"
#include "graphpae/report/run_report.h"

namespace graphpae::cli {
namespace {

template <class Data>
void make_and_write(const std::string& run, const Features& rows, const Data& data, const Common& common) {
  MapOptions options;
  options.threads = common.thread_count();
  std::unique_ptr<Progress> progress;
  options.progress = [&](int64_t done, int64_t total) {
    if (!progress) progress = std::make_unique<Progress>(common, "steps", total);
    progress->update(done, "map of the embeddings");
  };
  write_map(run + "/map.json", make_map(rows, data, options));
}

}  // namespace

void leave_map(const std::string& run, const Features& rows, const Graph& graph, const Common& common) {
  make_and_write(run, rows, graph, common);
}

void leave_map(const std::string& run, const Features& rows, const GraphSet& molecules, const Common& common) {
  make_and_write(run, rows, molecules, common);
}

std::string leave_report(const std::string& run) {
  const std::string path = run + "/report.html";
  try {
    write_file(path, run_report(run));
    return path;
  } catch (const Error& error) {
    spdlog::warn("no report was written: {}", error.what());
    return "";
  }
}

}  // namespace graphpae::cli
