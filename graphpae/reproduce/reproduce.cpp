#include "graphpae/reproduce/reproduce.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "graphpae/core/error.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

// Numbers of all spectra, and the page of the first.
void write_spectra(const WorkDirectory& work, const std::vector<SpectrumOfRow>& spectra) {
  std::string csv;
  for (const SpectrumOfRow& one : spectra) {
    if (!fs::exists(one.directory + "/spectrum.csv")) continue;
    std::istringstream lines(read_file(one.directory + "/spectrum.csv", 1 << 28));
    std::string line;
    std::getline(lines, line);
    if (csv.empty()) {
      csv = "row," + line + "\n";
      write_file(work.path() + "/report.html", read_file(one.directory + "/spectrum.html", 1 << 28));
    }
    while (std::getline(lines, line)) csv += table_field(one.row, ',') + "," + line + "\n";
  }
  if (!csv.empty()) write_file(work.path() + "/results.csv", csv);
}

void write_outputs(const WorkDirectory& work, const std::vector<Summary>& summaries,
                   const std::vector<SpectrumOfRow>& spectra, const std::string& title) {
  std::string markdown, csv;
  for (const Summary& summary : summaries) {
    markdown +=
        fmt::format("# {} ({})\n\n{}\n", summary.experiment.title, summary.experiment.paper, summary_markdown(summary));
    const std::string lines = summary_csv(summary);
    csv += csv.empty() ? lines : lines.substr(lines.find('\n') + 1);
  }
  if (!spectra.empty()) markdown += fmt::format("# Spectra\n\n```\n{}```\n", spectra_text(spectra));
  write_file(work.path() + "/results.md", markdown);
  if (summaries.empty()) return write_spectra(work, spectra);
  write_file(work.path() + "/results.csv", csv);
  write_file(work.path() + "/report.html", summary_html(summaries, title));
}

// Of `all`, experiments that have none of the data sets or variants asked for are left out.
std::vector<Experiment> wanted_experiments(const ReproduceOptions& options) {
  if (!options.budget.empty()) parse_duration(options.budget);  // an error before anything is done
  if (options.name != "all") return {find_experiment(options.name)};
  std::vector<Experiment> all = experiments();
  std::erase_if(all, [&](Experiment experiment) {
    try {
      keep_rows(experiment, options.datasets);
      keep_variants(experiment, options.variants);
    } catch (const Error&) {
      return true;
    }
    return false;
  });
  if (all.empty())
    throw usage_error(fmt::format("no experiment has --datasets '{}' --variants '{}'", fmt::join(options.datasets, ","),
                                  fmt::join(options.variants, ",")));
  return all;
}

// What is left of the budget for the next of so many experiments, at least a second.
double budget_left(const ReproduceOptions& options, const Stopwatch& clock, size_t experiments) {
  return std::max(1.0, (parse_duration(options.budget) - clock.seconds()) / static_cast<double>(experiments));
}

}  // namespace

std::string spectra_text(const std::vector<SpectrumOfRow>& spectra) {
  std::string text;
  for (const SpectrumOfRow& one : spectra) text += fmt::format("{}\n\n{}", one.row, one.text);
  return text;
}

std::vector<CampaignPlan> plan_reproduction(const ReproduceOptions& options, const JobWatch& watch) {
  const Stopwatch clock;
  const std::vector<Experiment> wanted = wanted_experiments(options);
  const WorkDirectory work(options, watch);
  JobRunner runner(work);
  std::vector<CampaignPlan> plans;
  for (const Experiment& experiment : wanted) {
    if (experiment.spectrum) continue;
    Campaign campaign(experiment, work, runner);
    if (!options.budget.empty()) campaign.plan(budget_left(options, clock, wanted.size() - plans.size()));
    plans.push_back(campaign.list());
  }
  return plans;
}

ReproduceResult reproduce(const ReproduceOptions& options, const JobWatch& watch) {
  const Stopwatch clock;
  const std::vector<Experiment> wanted = wanted_experiments(options);
  const WorkDirectory work(options, watch);
  JobRunner runner(work);
  ReproduceResult result;
  std::vector<Summary>& summaries = result.summaries;
  for (const Experiment& experiment : wanted) {
    Campaign campaign(experiment, work, runner);
    if (experiment.spectrum) {
      for (SpectrumOfRow& one : campaign.spectra()) result.spectra.push_back(std::move(one));
    } else {
      const auto write = [&] {
        std::vector<Summary> all = summaries;
        all.push_back(campaign.summary());
        write_outputs(work, all, result.spectra, options.name);
      };
      try {
        if (!options.budget.empty() && !options.table_only)
          campaign.plan(budget_left(options, clock, wanted.size() - summaries.size()));
        if (!options.table_only) campaign.work(write);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::interrupted) throw;
        write();
        throw Error(ErrorKind::interrupted, kKeptWhenInterrupted);
      }
      summaries.push_back(campaign.summary());
    }
    if (result.failed == 0) result.failure_kind = campaign.failure_kind();
    result.failed += campaign.failures();
  }
  write_outputs(work, summaries, result.spectra, options.name);
  if (!options.fill.empty()) write_file(options.fill, fill_marks(read_file(options.fill, 1 << 24), summaries));
  return result;
}

}  // namespace graphpae
