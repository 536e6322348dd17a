#include "graphpae/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "graphpae/cli/terminal.h"

namespace graphpae::cli {
namespace {

std::string time_text(double seconds) {
  const int64_t whole = static_cast<int64_t>(seconds + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bar(double share, size_t width) {
  const size_t filled = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  return fmt::format("[{}{}] ", std::string(filled, '#'), std::string(width - filled, '.'));
}

}  // namespace

std::string progress_line(const ProgressState& s, size_t width) {
  const double rate = static_cast<double>(s.done - s.first) / std::max(s.seconds, 1e-9);
  const double share = static_cast<double>(s.done) / static_cast<double>(s.total);
  const std::string count = s.unit == "%"
                                ? fmt::format("{:>3} %", s.done)
                                : fmt::format("{:>{}}/{} {}", s.done, std::to_string(s.total).size(), s.total, s.unit);
  const std::string speed = s.unit == "%" ? "" : fmt::format("  {:.3g}/s", rate);
  const std::string elapsed = fmt::format("  {} elapsed", time_text(s.seconds));
  const std::string left =
      fmt::format("  {} left", s.done > s.first ? time_text(static_cast<double>(s.total - s.done) / rate) : "?");
  const std::string note = s.note.empty() ? "" : "  " + s.note;
  if (width == kUnlimited) return count + speed + elapsed + left + note;
  // The first that fits with what the note needs, then the first that fits at all.
  const std::string forms[] = {bar(share, 24) + count + speed + elapsed + left,
                               bar(share, 24) + count + elapsed + left,
                               bar(share, 24) + count + left,
                               bar(share, 10) + count + left,
                               count + left,
                               count};
  for (const std::string& form : forms) {
    if (text_width(form + note) <= width) return form + note;
  }
  for (size_t k = 2; k < std::size(forms); ++k) {
    if (text_width(forms[k]) <= width) return fitted(forms[k] + note, width);
  }
  return fitted(count, width);
}

Progress::Progress(const Common& common, std::string unit, int64_t total, int64_t first)
    : state_{first, std::max<int64_t>(total, 1), first, std::move(unit), "", 0},
      shown_(!common.quiet && !common.no_progress),
      terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (!printed_ || !terminal_) return;
  draw();  // as it was last, though too soon after the line before
  std::fputs("\n", stderr);
}

void Progress::update(int64_t done, const std::string& note) {
  state_.done = done;
  state_.note = note;
  const double interval = terminal_ ? 0.1 : 5.0;
  if (!shown_ || since_drawn_.seconds() < interval) return;
  since_drawn_.restart();
  state_.seconds = since_start_.seconds();
  draw();
}

void Progress::draw() {
  if (!terminal_) {
    fmt::print(stderr, "{}\n", progress_line(state_, kUnlimited));
    return;
  }
  const size_t width = terminal_width(STDERR_FILENO) - 1;  // a full line would move the cursor to the next
  const std::string line = progress_line(state_, width);
  const size_t shown = text_width(line);
  // What is left of a longer line before is wiped out.
  const size_t blanks = std::min(width, printed_width_) > shown ? std::min(width, printed_width_) - shown : 0;
  fmt::print(stderr, "\r{}{}", line, std::string(blanks, ' '));
  std::fflush(stderr);
  printed_width_ = shown;
  printed_ = true;
}

}  // namespace graphpae::cli
