// Tables of an experiment for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "graphpae/reproduce/summary.h"

namespace graphpae {

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
