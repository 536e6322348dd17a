#include "graphpae/cli/score_table.h"

#include <fmt/format.h>

#include <cmath>

namespace graphpae::cli {
namespace {

constexpr int kTitle = 20, kCell = 32;

std::string cell(const Statistics& s, const ScoreFormat& format) {
  const auto number = [&](double value, int width) {
    return fmt::format("{:>{}.{}f}", format.factor * value, width, format.decimals);
  };
  const std::string interval =
      std::isfinite(s.low) ? number(s.low, 0) + " .. " + number(s.high, 0) : std::string("one score");
  return fmt::format("{} {}   {:<16}", number(s.mean, 6), number(s.deviation, 6), interval);
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

Json statistics_json(const Statistics& s) {
  const Json interval = std::isfinite(s.low) ? Json{s.low, s.high} : Json();
  return {{"mean", s.mean}, {"std", s.deviation}, {"ci95", interval}};
}

std::string score_table(const std::vector<std::string>& heads, const std::vector<ScoreRow>& rows,
                        const ScoreFormat& format) {
  std::string first = fmt::format("{:{}}", "", kTitle), second = first, text;
  for (const std::string& head : heads) {
    first += fmt::format("  {:<{}}", head, kCell);
    second += fmt::format("  {:<{}}", "  mean    std   95% interval", kCell);
  }
  text = trimmed(first) + trimmed(second);
  for (const ScoreRow& row : rows) {
    std::string line = fmt::format("{:{}}", row.title, kTitle);
    for (const Statistics& column : row.columns) line += fmt::format("  {:<{}}", cell(column, format), kCell);
    text += trimmed(line);
  }
  return text;
}

std::string difference_line(const std::string& protocol, const Statistics& difference, const std::string& name,
                            int64_t better, int64_t pairs, const ScoreFormat& format) {
  const auto number = [&](double value) { return fmt::format("{:+.{}f}", format.factor * value, format.decimals); };
  const std::string interval = std::isfinite(difference.low)
                                   ? fmt::format(" ({} .. {})", number(difference.low), number(difference.high))
                                   : std::string();
  return fmt::format("{:<7} {}{} against {}, better on {} of {}\n", protocol + ":", number(difference.mean), interval,
                     name, better, pairs);
}

}  // namespace graphpae::cli
