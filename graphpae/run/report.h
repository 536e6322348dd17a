// Pages about runs, maps of their embeddings, and their metrics in other forms: the verb report, and what the verbs
// that train or evaluate leave in a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/data/load.h"
#include "graphpae/run/context.h"

namespace graphpae {
class Model;
}

namespace graphpae::run {

// Writes RUN/map.json from the embeddings [N,D] of the nodes of a Graph or the molecules of a GraphSet.
template <class Data>
void write_map(const std::string& run, const Features& rows, const Data& data, const Context& context);

// Writes RUN/report.html and returns its path. Work that is done is not lost for want of a page: what goes wrong is a
// message, and the path is "".
std::string write_report(const std::string& run, const Watch& watch);

// Embeds the data with the model of the run and keeps a map of them there. `name` of the data starts errors.
void embed_and_map(const std::string& run, Model& model, const Dataset& dataset, const std::string& name,
                   const Context& context);

// Writes the page of one run, with the spectrum of a directory if it is not "", or the comparison of several. Returns
// its size in bytes.
int64_t write_page(const std::string& path, const std::vector<std::string>& runs, const std::string& spectrum);

enum class MetricsForm { csv, tensorboard };

// One file per part of a run, in a directory of its own where there are several. `output`: a file of CSV or a directory
// of event files; "": in the run. Returns their paths.
std::vector<std::string> export_metrics(const std::string& run, MetricsForm form, const std::string& output,
                                        const Watch& watch);

}  // namespace graphpae::run
