#include "graphpae/cli/ranks.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <thread>

#include "graphpae/cli/interrupt.h"
#include "graphpae/cli/program.h"
#include "graphpae/positions/slepc_session.h"

namespace graphpae::cli {

// An error that all ranks meet is for rank 0 to tell; it ends the others meanwhile.
constexpr std::chrono::seconds kPrecedence{2};

void run_on_ranks(Common& common, const std::function<void()>& body) {
  const SlepcSession session;
  const bool first = session.rank() == 0;
  if (session.ranks() > 1) end_silently_when_interrupted();
  if (!first) {
    common.quiet = true;
    spdlog::set_level(spdlog::level::err);
  }
  try {
    body();
  } catch (const std::exception&) {
    if (session.ranks() == 1) throw;
    if (!first) std::this_thread::sleep_for(kPrecedence);
    session.end_all(report_exception());
  }
}

Dataset load_data_on_ranks(const DataFlags& flags, const Common& common) {
  const bool first = SlepcSession::rank() == 0;
  if (!first) SlepcSession::wait_for_all();
  Dataset dataset = load_data(flags, common);
  if (first) SlepcSession::wait_for_all();
  return dataset;
}

}  // namespace graphpae::cli
