#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>

#include "graphpae/cli/leave_report.h"
#include "graphpae/cli/run_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/model/model_file.h"
#include "graphpae/report/event_file.h"
#include "graphpae/report/run_record.h"
#include "graphpae/report/run_report.h"
#include "graphpae/train/representations.h"

namespace graphpae::cli {
namespace {

namespace fs = std::filesystem;

enum class Export { csv, tensorboard };

struct Flags {
  std::vector<std::string> runs;
  std::string output, spectrum, exported;
  DataFlags data;
};

// Embeds the data with the model of the run and keeps a map of them there.
void make_map_of(const std::string& run, DataFlags flags, const Common& common) {
  const auto model = load_model(run);
  if (flags.featurizer.empty()) flags.featurizer = featurizer_name(model->input_shape());
  const Dataset dataset = load_data(flags, common);
  print_notes(dataset.notes);
  std::visit(
      [&](const auto& data) {
        naming(flags.data, [&] { check_features(*model, data); });
        const InputOptions options = input_options(common, Kernels::fused, data, model->settings());
        const auto input = naming(flags.data, [&] { return prepare(data, model->settings(), options); });
        if constexpr (std::is_same_v<std::decay_t<decltype(data)>, Graph>)
          leave_map(run, embedded_rows(*model, input), data, common);
        else
          leave_map(run, embedded_rows(*model, *input), data, common);
      },
      dataset.content);
}

// When the run began, or now if it does not say.
double start_of(const RunRecord& run) {
  std::tm time{};
  if (run.environment.is_object() && run.environment.contains("started") && run.environment["started"].is_string() &&
      ::strptime(run.environment["started"].get<std::string>().c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) != nullptr)
    return static_cast<double>(::timegm(&time));
  return static_cast<double>(std::time(nullptr));
}

// One file per part of a run, in a directory of its own where there are several.
std::vector<std::string> write_metrics(const RunRecord& run, Export form, const std::string& output) {
  std::vector<std::string> files;
  for (const auto& part : run.parts) {
    std::string directory = output, path, name = part.name;
    std::replace(name.begin(), name.end(), ' ', '-');
    if (form == Export::tensorboard) {
      if (output.empty()) directory = run.path + "/tensorboard";
      if (!name.empty()) directory += "/" + name;
      path = fmt::format("{}/events.out.tfevents.{:.0f}.graphpae", directory, start_of(run));
    } else {
      directory = output.empty() ? run.path : fs::path(output).parent_path().string();
      const std::string stem = output.empty() ? run.path + "/metrics" : (fs::path(output).replace_extension()).string();
      path = stem + (name.empty() ? "" : "-" + name) + ".csv";
    }
    std::error_code reason;
    if (!directory.empty()) fs::create_directories(directory, reason);
    if (reason) throw data_error(fmt::format("{}: {}", directory, reason.message()));
    write_file(path, form == Export::csv ? metrics_csv(part.metrics) : event_file(part.metrics, start_of(run)));
    files.push_back(path);
  }
  return files;
}

void export_metrics(const Flags& flags, const Common& common) {
  const Export form =
      choose<Export>("--export", flags.exported, {{"csv", Export::csv}, {"tensorboard", Export::tensorboard}});
  if (flags.runs.size() > 1 && !flags.output.empty()) throw usage_error("--export with -o is for one run");
  Json json = Json::array();
  for (const std::string& path : flags.runs) {
    const RunRecord run = read_run(path);
    for (const std::string& note : run.notes) spdlog::info("note: {}: {}", path, note);
    for (const std::string& file : write_metrics(run, form, flags.output)) json.push_back(file);
  }
  if (common.json) return print_json({{"files", json}});
  for (const Json& file : json) fmt::print("{}\n", file.get<std::string>());
}

}  // namespace

void add_report(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("report", "a page about a run, or one that compares several");
  auto flags = std::make_shared<Flags>();
  verb->add_option("RUN", flags->runs, "run directories")->required();
  verb->add_option("-o,--output", flags->output, "file to write (default: RUN/report.html; needed for several runs)");
  verb->add_option("--spectrum", flags->spectrum, "directory of `graphpae spectrum`, to be shown with the run");
  verb->add_option("--export", flags->exported,
                   "instead of a page, the metrics: csv (RUN/metrics.csv) or tensorboard (RUN/tensorboard/)");
  verb->add_option("--data", flags->data.data, "the data of the run: makes the map of the embeddings anew");
  add_reading_flags(*verb, flags->data);
  verb->callback([flags, &common] {
    if (!flags->exported.empty()) {
      if (!flags->data.data.empty() || !flags->spectrum.empty())
        throw usage_error("--export writes metrics: it goes with neither --data nor --spectrum");
      return export_metrics(*flags, common);
    }
    const bool several = flags->runs.size() > 1;
    if (several && flags->output.empty()) throw usage_error("-o FILE.html is required: where the comparison goes");
    if (several && (!flags->data.data.empty() || !flags->spectrum.empty()))
      throw usage_error("--data and --spectrum are for the page of one run");
    for (const std::string& run : flags->runs) read_run(run);  // errors before anything is computed
    if (!flags->data.data.empty()) make_map_of(flags->runs.front(), flags->data, common);
    const std::string path = flags->output.empty() ? flags->runs.front() + "/report.html" : flags->output;
    const std::string html =
        several ? comparison_report(flags->runs) : run_report(flags->runs.front(), flags->spectrum);
    write_file(path, html);
    if (common.json) return print_json({{"output", path}, {"runs", flags->runs.size()}, {"bytes", html.size()}});
    fmt::print("{}\n", path);
  });
}

}  // namespace graphpae::cli
