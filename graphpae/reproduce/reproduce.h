// Tables and figures of the paper, run again.
#pragma once

#include <string>
#include <vector>

#include "graphpae/reproduce/campaign.h"

namespace graphpae {

struct ReproduceResult {
  std::vector<Summary> summaries;      // one per table
  std::vector<SpectrumOfRow> spectra;  // of experiments that are spectra
  size_t failed = 0;                   // jobs
  ErrorKind failure_kind = {};         // of the first experiment that had one
};

// Runs the jobs of options.name that are not done, together with other processes that do the same. results.jsonl grows
// with every job; results.md, results.csv and report.html in options.output are written after each. Throws an
// interrupted error if it is to stop; the same call goes on from there.
ReproduceResult reproduce(const ReproduceOptions& options, const JobWatch& watch);

// The jobs of a dry run, one plan per table.
std::vector<CampaignPlan> plan_reproduction(const ReproduceOptions& options, const JobWatch& watch);

// All spectra, one below the other.
std::string spectra_text(const std::vector<SpectrumOfRow>& spectra);

}  // namespace graphpae
