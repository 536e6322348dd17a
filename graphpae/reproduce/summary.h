// What the records of an experiment say: means and deviations, the paper's numbers beside them, comparisons.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/evaluate/statistics.h"
#include "graphpae/reproduce/job.h"

namespace graphpae {

// Two variants on the same data: means of splits if there are several, else of seeds, else single scores.
struct VariantComparison {
  std::string protocol, unit;                // unit: "splits", "seeds" or "probes"
  Statistics difference;                     // the variant minus the reference
  int64_t pairs = 0, better = 0, worse = 0;  // of the variant
  std::optional<double> t_test, sign_test;   // two-sided p; nothing for one pair
};

struct BaselineLine {
  std::string name;
  std::map<std::string, Statistics> protocols;
};

// A line of the table.
struct SummaryLine {
  size_t row = 0, variant = 0;
  std::string target;                           // "" if the row has one score
  std::string metric;                           // "" if there are no scores yet
  std::map<std::string, Statistics> protocols;  // over splits, probes and seeds; as recorded
  std::optional<Published> published;
  int64_t seeds = 0, wanted_seeds = 0;
  int64_t epochs = 0, recipe_epochs = 0;
  double seconds = 0;          // of a job, the median
  int64_t peak_rss_bytes = 0;  // the largest
  std::vector<BaselineLine> baselines;
  std::vector<VariantComparison> comparisons;  // with the reference
  std::string data;                            // the name it was found by
  std::string state;                           // why there are no scores; "" if there are, or if they are to come
  bool whole_row = false;                      // the state is that of all variants of the row
};

struct Summary {
  Experiment experiment;
  std::vector<SummaryLine> lines;
  std::vector<std::string> notes;              // on how it was cut down
  std::vector<std::string> commits, machines;  // of the records, each once
  std::string first_date, last_date;
  double seconds = 0;  // of all jobs in it
};

// Percent for shares, else as it is.
double shown_factor(const std::string& metric);
int shown_decimals(const std::string& metric);
bool smaller_is_better(const std::string& metric);
std::string metric_title(const std::string& metric);

// `job_of` gives the job of a line and seed. `row_state`, if given, says why a row cannot be run at all, and
// `cell_state` why a cell has no scores; "" if they are to come.
struct SummaryOptions {
  int64_t seeds = 0;        // those below this number
  bool any_epochs = false;  // of the epochs there are records for, take the most
  std::function<Job(size_t row, size_t variant, int64_t seed)> job_of;
  std::function<std::string(size_t row)> row_state;
  std::function<std::string(size_t row, size_t variant)> cell_state;
};
Summary summarise(const Experiment& experiment, const std::vector<Record>& records, const SummaryOptions& options);

// Tables of an experiment for people and for programs.
struct Grid {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // [rows][head]
};

// The scores, one line per data set and variant, baselines below the first variant; published numbers if there are any.
Grid score_grid(const Summary& summary);
// Every variant against the reference; no rows if there is nothing to compare.
Grid comparison_grid(const Summary& summary);

std::string grid_text(const Grid& grid);  // aligned columns
std::string grid_markdown(const Grid& grid);

std::string summary_text(const Summary& summary);      // for a terminal
std::string summary_markdown(const Summary& summary);  // with commit and machine, without a heading
std::string summary_csv(const Summary& summary);       // a line per data set, variant and protocol
std::string summary_html(const std::vector<Summary>& summaries, const std::string& title);

// Replaces what stands between `<!-- table: NAME -->` and `<!-- end -->` in a document for every summary of that name:
// lines that have scores, or a reason why not. Throws a data error if a mark has no end.
std::string fill_marks(const std::string& document, const std::vector<Summary>& summaries);
// Likewise for one mark and any text; the document as it is if it has no such mark.
std::string fill_mark(const std::string& document, const std::string& name, const std::string& text);

}  // namespace graphpae
