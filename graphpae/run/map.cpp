#include "graphpae/run/map.h"

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/report/make_map.h"
#include "graphpae/report/run_report.h"

namespace graphpae::run {
namespace {

template <class Data>
void make_and_write(const std::string& run, const Features& rows, const Data& data, const Context& context) {
  MapOptions options;
  options.threads = context.threads;
  options.progress = [&](int64_t done, int64_t total) {
    context.watch.report({"steps", done, total, 0, "map of the embeddings"});
  };
  graphpae::write_map(run + "/map.json", make_map(rows, data, options));
}

}  // namespace

void write_map(const std::string& run, const Features& rows, const Graph& graph, const Context& context) {
  make_and_write(run, rows, graph, context);
}

void write_map(const std::string& run, const Features& rows, const GraphSet& molecules, const Context& context) {
  make_and_write(run, rows, molecules, context);
}

std::string write_report(const std::string& run, const Watch& watch) {
  const std::string path = run + "/report.html";
  try {
    write_file(path, run_report(run));
    return path;
  } catch (const Error& error) {
    watch.tell(std::string("no report was written: ") + error.what());
    return "";
  }
}

}  // namespace graphpae::run
