#include "graphpae/run/report.h"

#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/core/error.h"
#include "graphpae/report/run_report.h"
#include "graphpae/run/models.h"

namespace graphpae::cli {
namespace {

struct ReportFlags {
  std::vector<std::string> runs;
  std::string output, spectrum, exported;
  DataFlags data;
};

void make_map(const std::string& run, DataFlags flags, const Common& common) {
  const auto model = run::load_model(run);
  if (flags.featurizer.empty()) flags.featurizer = run::featurizer_of(*model);
  run::embed_and_map(run, *model, load_data(flags, common), flags.data, context_of(common));
}

void export_metrics(const ReportFlags& flags, const Common& common) {
  using run::MetricsForm;
  const auto form = choose<MetricsForm>("--export", flags.exported,
                                        {{"csv", MetricsForm::csv}, {"tensorboard", MetricsForm::tensorboard}});
  if (flags.runs.size() > 1 && !flags.output.empty()) throw usage_error("--export with -o is for one run");
  std::vector<std::string> files;
  for (const std::string& run : flags.runs) {
    for (const std::string& file : run::export_metrics(run, form, flags.output, watch_of(common)))
      files.push_back(file);
  }
  if (common.json) return print_json({{"files", files}});
  for (const std::string& file : files) fmt::print("{}\n", file);
}

}  // namespace

void add_report(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("report", "Write a page about a run, or one that compares several.");
  auto flags = std::make_shared<ReportFlags>();
  verb->add_option("RUN", flags->runs, "Show these run directories.")->required()->type_name("RUN");
  verb->add_option("-o,--output", flags->output,
                   "Write to this file; the default is RUN/report.html, and several runs need one.")
      ->type_name("FILE");
  verb->add_option("--spectrum", flags->spectrum, "Show this directory of `spectrum` with the run.")->type_name("DIR");
  verb->add_option("--export", flags->exported,
                   "Instead of a page, write the metrics to RUN/metrics.csv or to RUN/tensorboard/.")
      ->type_name("csv|tensorboard");
  verb->add_option("--data", flags->data.data, "Make the map of the embeddings anew from the data of the run.")
      ->type_name("DATA");
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
    if (!flags->data.data.empty()) make_map(flags->runs.front(), flags->data, common);
    const std::string path = flags->output.empty() ? flags->runs.front() + "/report.html" : flags->output;
    const int64_t bytes = run::write_page(path, flags->runs, flags->spectrum);
    if (common.json) return print_json({{"output", path}, {"runs", flags->runs.size()}, {"bytes", bytes}});
    fmt::print("{}\n", path);
  });
}

}  // namespace graphpae::cli
