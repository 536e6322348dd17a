// Page: one HTML file with text, tables and charts that opens anywhere, also without a network.
//
// Charts are drawn by Chart.js, which is inside the file. Colours are told apart by most colour-blind people; the page
// is light or dark as the reader's system is. Every chart has its numbers in a table below it, closed at first.
#pragma once

#include <string>
#include <vector>

namespace graphpae {

// One line, or bars, of a chart. NaN leaves a gap.
struct ChartSeries {
  std::string name;
  std::vector<double> values;  // [points]
};

struct Chart {
  enum class Kind { lines, bars };
  std::string title, x_title, y_title;
  Kind kind = Kind::lines;
  std::vector<std::string> points;  // along the x axis
  std::vector<ChartSeries> series;
  bool logarithmic = false;  // y axis
};

class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  void add_heading(const std::string& text);
  void add_text(const std::string& text);
  void add_code(const std::string& text);
  // All rows have as many cells as `head`.
  void add_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);
  void add_chart(const Chart& chart);

  std::string html() const;

 private:
  std::string title_, body_;
  std::vector<std::string> charts_;  // their settings, JSON
};

// Text as HTML shows it.
std::string escape_html(const std::string& text);

}  // namespace graphpae
