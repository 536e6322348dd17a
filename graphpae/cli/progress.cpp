#include "graphpae/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace graphpae::cli {
namespace {

using Seconds = std::chrono::duration<double>;

size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string time_text(double seconds) {
  const int64_t whole = static_cast<int64_t>(seconds + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

Progress::Progress(const Common& common, std::string unit, int64_t total, int64_t first)
    : unit_(std::move(unit)),
      total_(std::max<int64_t>(total, 1)),
      first_(first),
      shown_(!common.quiet && !common.no_progress),
      terminal_(::isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (printed_ && terminal_) std::fputs("\n", stderr);
}

void Progress::update(int64_t done, const std::string& note) {
  const auto now = std::chrono::steady_clock::now();
  const double interval = terminal_ ? 0.1 : 5.0;
  if (!shown_ || Seconds(now - last_).count() < interval) return;
  last_ = now;
  const double elapsed = Seconds(now - start_).count(), share = static_cast<double>(done) / static_cast<double>(total_);
  const double rate = static_cast<double>(done - first_) / std::max(elapsed, 1e-9);
  const std::string left = done > first_ ? time_text(static_cast<double>(total_ - done) / rate) : "?";
  const std::string text = fmt::format("{}/{} {}  {:.3g}/s  {} elapsed  {} left{}{}", done, total_, unit_, rate,
                                       time_text(elapsed), left, note.empty() ? "" : "  ", note);
  if (!terminal_) {
    fmt::print(stderr, "{}\n", text);
    return;
  }
  constexpr size_t kBar = 24;
  const size_t filled = static_cast<size_t>(share * kBar);
  const std::string line = fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(kBar - filled, '.'), text);
  fmt::print(stderr, "\r{:<{}}", line.substr(0, terminal_width() - 1), std::min<size_t>(terminal_width() - 1, 160));
  printed_ = true;
}

}  // namespace graphpae::cli
