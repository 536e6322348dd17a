// report.html: what a run did, or how several compare, as one page.
#pragma once

#include <string>
#include <vector>

namespace graphpae {

// The page of one run: results, losses, confusion, map (map.json of the run), spectrum (spectrum/spectrum.json, or
// that of the directory `spectrum`), settings, environment and how to repeat it. An unfinished run is shown as far as
// it went. Throws a data error if there is no run, or one of a newer version.
std::string run_report(const std::string& run, const std::string& spectrum = "");

// The page of several runs: results side by side, losses together, settings that differ.
std::string comparison_report(const std::vector<std::string>& runs);

}  // namespace graphpae
