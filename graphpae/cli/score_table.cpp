#include "graphpae/cli/score_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "graphpae/cli/terminal.h"
#include "graphpae/io/text.h"

namespace graphpae::cli {
namespace {

constexpr size_t kTitle = 18, kGap = 2, kShort = 13, kCell = 29;

std::string cell(const Statistics& s, const ScoreFormat& format, bool with_interval) {
  const auto number = [&](double value, int width) {
    return fmt::format("{:>{}.{}f}", format.factor * value, width, format.decimals);
  };
  const std::string deviation = std::isfinite(s.low) ? number(s.deviation, 6) : fmt::format("{:>6}", "-");
  const std::string both = fmt::format("{} {}", number(s.mean, 6), deviation);
  if (!with_interval) return both;
  return both + "  " +
         (std::isfinite(s.low) ? number(s.low, 0) + " .. " + number(s.high, 0) : std::string("one score"));
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string score_table(const std::vector<std::string>& heads, const std::vector<ScoreRow>& rows,
                        const ScoreFormat& format) {
  return score_table(heads, rows, format, terminal_width(STDOUT_FILENO));
}

std::string score_table(const std::vector<std::string>& heads, const std::vector<ScoreRow>& rows,
                        const ScoreFormat& format, size_t width) {
  if (heads.size() > 1 && kTitle + heads.size() * (kGap + kCell) > width) {
    std::string text;
    for (size_t h = 0; h < heads.size(); ++h) {
      std::vector<ScoreRow> column;
      for (const ScoreRow& row : rows) column.push_back({row.title, {row.columns[h]}});
      text += (h > 0 ? "\n" : "") + score_table({heads[h]}, column, format, width);
    }
    return text;
  }
  const bool intervals = kTitle + kGap + kCell <= width;
  const size_t columns = intervals ? kCell : kShort;
  const std::string gap(kGap, ' ');
  std::string first = std::string(kTitle, ' '), second = first, text;
  for (const std::string& head : heads) {
    const size_t room = heads.size() == 1 && width != kUnlimited ? std::max(columns, width - kTitle - kGap) : columns;
    first += fmt::format("{}{:<{}}", gap, fitted(head, room), columns);
    second += fmt::format("{}{:<{}}", gap, intervals ? "  mean    std  95% interval" : "  mean    std", columns);
  }
  text = trimmed(first) + trimmed(second);
  for (const ScoreRow& row : rows) {
    std::string line = fmt::format("{:{}}", row.title, kTitle);
    for (const Statistics& column : row.columns)
      line += fmt::format("{}{:<{}}", gap, cell(column, format, intervals), columns);
    text += trimmed(line);
  }
  return text;
}

std::string difference_line(const std::string& protocol, const Statistics& difference, const std::string& name,
                            int64_t better, int64_t pairs, const ScoreFormat& format) {
  const auto number = [&](double value) { return signed_text(format.factor * value, format.decimals); };
  const std::string interval = std::isfinite(difference.low)
                                   ? fmt::format(" ({} .. {})", number(difference.low), number(difference.high))
                                   : std::string();
  return fmt::format("{:<7} {}{} against {}, better on {} of {}\n", protocol + ":", number(difference.mean), interval,
                     name, better, pairs);
}

}  // namespace graphpae::cli
