#include "graphpae/run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/model/representations.h"
#include "graphpae/report/embedding_map.h"
#include "graphpae/report/metrics_file.h"
#include "graphpae/report/run_report.h"
#include "graphpae/run/models.h"

namespace graphpae::run {
namespace {

namespace fs = std::filesystem;

// When the run began, or now if it does not say.
double start_of(const RunRecord& run) {
  std::tm time{};
  const std::string started = run.environment_text("started");
  return static_cast<double>(::strptime(started.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) != nullptr ? ::timegm(&time)
                                                                                                 : std::time(nullptr));
}

}  // namespace

template <class Data>
void write_map(const std::string& run, const Features& rows, const Data& data, const Context& context) {
  MapOptions options;
  options.threads = context.threads;
  options.progress = [&](int64_t done, int64_t total) {
    context.watch.report({"steps", done, total, 0, "map of the embeddings"});
  };
  graphpae::write_map(run + "/map.json", make_map(rows, data, options));
}

template void write_map(const std::string&, const Features&, const Graph&, const Context&);
template void write_map(const std::string&, const Features&, const GraphSet&, const Context&);

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

void embed_and_map(const std::string& run, Model& model, const Dataset& dataset, const std::string& name,
                   const Context& context) {
  context.watch.say_all(dataset.notes);
  std::visit(
      [&](const auto& data) {
        const auto seen = naming(name, [&] { return as_seen(model, data, context.watch.note); });
        const InputOptions options = input_options(context, data, model.settings());
        const auto input = naming(name, [&] { return prepare(*seen, model.settings(), options); });
        write_map(run, embedded_rows(model, input), data, context);
      },
      dataset.content);
}

int64_t write_page(const std::string& path, const std::vector<std::string>& runs, const std::string& spectrum) {
  const std::string html = runs.size() > 1 ? comparison_report(runs) : run_report(runs.front(), spectrum);
  write_file(path, html);
  return static_cast<int64_t>(html.size());
}

std::vector<std::string> export_metrics(const std::string& path, MetricsForm form, const std::string& output,
                                        const Watch& watch) {
  const RunRecord run = read_run(path);
  for (const std::string& note : run.notes) watch.say(path + ": " + note);
  std::vector<std::string> files;
  for (const auto& part : run.parts) {
    std::string directory = output, file, name = part.name;
    std::replace(name.begin(), name.end(), ' ', '-');
    if (form == MetricsForm::tensorboard) {
      if (output.empty()) directory = run.path + "/tensorboard";
      if (!name.empty()) directory += "/" + name;
      file = fmt::format("{}/events.out.tfevents.{:.0f}.graphpae", directory, start_of(run));
    } else {
      directory = output.empty() ? run.path : fs::path(output).parent_path().string();
      const std::string stem = output.empty() ? run.path + "/metrics" : fs::path(output).replace_extension().string();
      file = stem + (name.empty() ? "" : "-" + name) + ".csv";
    }
    std::error_code reason;
    if (!directory.empty()) fs::create_directories(directory, reason);
    if (reason) throw data_error(fmt::format("{}: {}", directory, reason.message()));
    write_file(file, form == MetricsForm::csv ? metrics_csv(part.metrics) : event_file(part.metrics, start_of(run)));
    files.push_back(file);
  }
  return files;
}

}  // namespace graphpae::run
