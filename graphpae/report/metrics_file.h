// metrics.jsonl of a run as columns, as CSV and for TensorBoard.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

// A TensorBoard event file with the metrics as scalars: a sequence of records, each a length, its checksum, bytes and
// their checksum; the bytes are a message Event of protocol buffers, written by hand as there are but four fields to
// it. A version record, then a scalar per epoch and column. `start` is when the run began, in seconds since 1970; later
// events follow by the column `seconds`, if there is one.
std::string event_file(const Metrics& metrics, double start);

// CRC-32C (Castagnoli) of bytes, and as such files hold it.
uint32_t crc32c(std::string_view bytes);
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace graphpae
