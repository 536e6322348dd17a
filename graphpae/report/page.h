// Page: one HTML file with text, tables, charts and maps that opens anywhere, also without a network.
//
// Charts are drawn by Chart.js, which is inside the file. Colours are told apart by most colour-blind people; the page
// is light or dark as the reader's system is. Every chart has its numbers in a table below it, closed at first. What a
// mouse can do, keys can do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/report/embedding_map.h"

namespace graphpae {

// One line, or bars, of a chart. NaN leaves a gap.
struct ChartSeries {
  std::string name;
  std::vector<double> values;               // [points]
  std::vector<double> spread = {};          // [points] or empty: a band of that much above and below a line
  std::vector<double> low = {}, high = {};  // [points] or empty: whiskers of the bars of `scores`
  std::vector<double> x = {};               // of `curves`: [values]
  bool reference = false;                   // a curve to compare with: grey and dashed
};

struct Chart {
  // lines and bars stand side by side along the x axis, bars of `scores` below each other, each with its name; `curves`
  // have numbers from 0 to 1 along both axes.
  enum class Kind { lines, bars, scores, curves };
  std::string title, x_title, y_title;
  Kind kind = Kind::lines;
  bool logarithmic = false;              // y axis
  bool from_zero = false;                // y axis: begins at zero
  std::vector<std::string> points = {};  // along the x axis; the names of bars of `scores`
  std::vector<ChartSeries> series = {};
};

class Page {
 public:
  using Rows = std::vector<std::vector<std::string>>;

  explicit Page(std::string title) : title_(std::move(title)) {}

  void add_heading(const std::string& text);
  void add_text(const std::string& text);
  // What it all comes to, in a sentence; for better or worse where `standing` is 1 or -1.
  void add_verdict(const std::string& text, int standing);
  void add_note(const std::string& text);  // something the reader should know, set off from the text
  void add_code(const std::string& text);
  // All rows have as many cells as `head`. Columns of numbers are aligned at the right.
  void add_table(const std::vector<std::string>& head, const Rows& rows);
  // The same, closed at first.
  void add_details(const std::string& summary, const std::vector<std::string>& head, const Rows& rows);
  void add_chart(const Chart& chart);
  // counts [names, names], row by row: rows are what is, columns what was predicted. Shaded by the share of the row.
  void add_confusion(const std::vector<std::string>& names, const std::vector<std::vector<double>>& counts);
  // Points that say what they are under the pointer, in groups that can be hidden.
  void add_map(const EmbeddingMap& map);

  std::string html() const;

 private:
  std::string title_, body_;
  std::vector<std::string> charts_, maps_;  // their settings, JSON
};

// "raw_features" as a reader sees it.
std::string with_blanks(std::string name);

// spectrum.json of `graphpae spectrum`, from the text of the file, as charts and tables. Throws a data error that
// starts with `source` if it is not a spectrum.
void add_spectrum_charts(Page& page, const std::string& json, const std::string& source);

// "all 200 eigenvectors", or how many of them and up to which frequency.
std::string spectrum_extent(int64_t eigenvectors, int64_t nodes, double highest);

}  // namespace graphpae
