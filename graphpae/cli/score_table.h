// Scores as lines for people, whatever was evaluated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/evaluate/statistics.h"

namespace graphpae::cli {

// How a score is written.
struct ScoreFormat {
  double factor = 100;  // shares of one as percent
  int decimals = 2;
};

struct ScoreRow {
  std::string title;
  std::vector<Statistics> columns;  // one per head
};

// A line per row: mean, standard deviation and interval under every head. Where the heads do not fit side by side they
// stand below each other, and where an interval does not fit it is left out; the width is that of the terminal, if
// stdout is one.
std::string score_table(const std::vector<std::string>& heads, const std::vector<ScoreRow>& rows,
                        const ScoreFormat& format);
std::string score_table(const std::vector<std::string>& heads, const std::vector<ScoreRow>& rows,
                        const ScoreFormat& format, size_t width);

// "strict: +1.23 (+0.50 .. +1.96) against NAME, better on 8 of 10".
std::string difference_line(const std::string& protocol, const Statistics& difference, const std::string& name,
                            int64_t better, int64_t pairs, const ScoreFormat& format);

}  // namespace graphpae::cli
