// metrics.jsonl of a run as columns, and as CSV.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace graphpae {

struct Metrics {
  std::vector<int64_t> epochs;  // [lines] ascending
  struct Column {
    std::string name;            // "loss", "lr", ...
    std::vector<double> values;  // [lines], NaN where a line has none
    bool empty() const;          // nothing but NaN
    double mean() const;         // of the lines that have one
  };
  std::vector<Column> columns;
  int64_t unreadable = 0;  // lines that are no record of an epoch; a half line at the end does not count

  const Column* find(const std::string& name) const;  // or null; null also for a column without numbers
};

// No lines if there is no such file. An epoch that is there twice counts as it was last.
Metrics read_metrics(const std::string& path);

// A line per epoch below a header; empty fields where there is no number.
std::string metrics_csv(const Metrics& metrics);

}  // namespace graphpae
