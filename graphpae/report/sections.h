// Sections of the page of a run; inside report/.
#pragma once

#include <string>
#include <vector>

#include "graphpae/report/page.h"
#include "graphpae/report/run_report.h"

namespace graphpae {

// What was learnt from, in numbers: data_facts of environment.json. Nothing for runs of versions that did not say.
void add_data_facts(Page& page, const RunRecord& run);

// Bars with their intervals, the embeddings first; a chart for every metric and protocol that has several rows.
void add_score_charts(Page& page, const std::vector<ResultScore>& scores);

// ROC, precision and recall, and calibration of targets of two classes, from the predictions that fine-tuning left.
void add_prediction_charts(Page& page, const RunRecord& run);

// The command that made the run, and one that makes it again.
void add_repeat(Page& page, const RunRecord& run);

}  // namespace graphpae
