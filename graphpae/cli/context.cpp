#include "graphpae/cli/context.h"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "graphpae/cli/interrupt.h"
#include "graphpae/cli/progress.h"

namespace graphpae::cli {
namespace {

// The bar on the screen and what Ctrl-C does while it grows; shared by the functions of a Watch.
struct Screen {
  explicit Screen(const Common& flags) : common(flags) {}

  const Common& common;
  std::optional<Progress> bar;
  std::optional<GracefulStop> graceful;
  run::ProgressReport last;
  bool finished = false;  // the piece of work that `last` is about

  void show(const run::ProgressReport& report) {
    if (report.unit != last.unit || report.total != last.total || report.done < last.done) bar.reset();
    last = report;
    finished = report.done >= report.total;
    if (!bar && !finished) bar.emplace(common, report.unit, report.total, report.before);
    if (bar) bar->update(report.done, report.note);
    if (!finished) return;
    bar.reset();
    graceful.reset();
  }

  bool stopping() {
    if (!graceful && !finished) graceful.emplace();
    return GracefulStop::requested();
  }
};

}  // namespace

run::Watch watch_of(const Common& common) {
  const auto screen = std::make_shared<Screen>(common);
  run::Watch watch;
  watch.message = [screen](const std::string& line) {
    screen->bar.reset();
    spdlog::info("{}", line);
  };
  watch.note = [message = watch.message](const std::string& line) { message("note: " + line); };
  watch.progress = [screen](const run::ProgressReport& report) { screen->show(report); };
  watch.stop = [screen] { return screen->stopping(); };
  return watch;
}

run::Context context_of(const Common& common) {
  run::Context context;
  context.threads = common.thread_count();
  if (const char* cache = std::getenv("GRAPHPAE_CACHE"); cache != nullptr) context.cache = cache;
  context.command = common.command;
  context.watch = watch_of(common);
  return context;
}

}  // namespace graphpae::cli
