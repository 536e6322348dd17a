#include "graphpae/reproduce/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/reproduce/job.h"

namespace graphpae {
namespace {

// Jobs that pre-train and probe.
bool pretrains(const std::string& verb) { return verb == "probe" || verb == "tune"; }

}  // namespace

std::optional<JobCost> recorded_cost(const std::vector<Record>& records, const JobIdentity& job,
                                     const std::string& machine) {
  // The newest are nearest to what the machine does now, in whichever file they stand.
  const Record *same_cell = nullptr, *same_data = nullptr;
  const auto keep_newer = [](const Record*& kept, const Record& record) {
    if (kept == nullptr || kept->date <= record.date) kept = &record;
  };
  for (const Record& record : records) {
    const std::string& verb = record.identity.verb;
    const bool alike = verb == job.verb || (pretrains(verb) && pretrains(job.verb));
    if (record.machine != machine || !alike || record.identity.data != job.data) continue;
    JobIdentity asked = job;
    asked.verb = verb;
    keep_newer(same_data, record);
    if (answers_but_for_seed_and_epochs(record, asked)) keep_newer(same_cell, record);
  }
  const Record* found = same_cell != nullptr ? same_cell : same_data;
  if (found == nullptr) return std::nullopt;
  const auto epochs = static_cast<double>(std::max<int64_t>(1, found->identity.epochs()));
  return JobCost{found->training_seconds / epochs, std::max(0.0, found->seconds - found->training_seconds)};
}

BudgetPlan plan_budget(const std::vector<CellCost>& cells, int64_t wanted, double seconds) {
  BudgetPlan plan;
  plan.left_out.assign(cells.size(), false);
  const auto whole = [&](int64_t seeds) {
    double sum = 0;
    for (const CellCost& cell : cells) {
      const int64_t left = std::max<int64_t>(0, seeds - cell.done_seeds);
      sum += cell.cost.of(cell.epochs) * static_cast<double>(left);
      if (left > 0 && cell.done_seeds == 0) sum += cell.before.of(cell.before_epochs);
    }
    return sum;
  };
  for (plan.seeds = wanted; plan.seeds > 1 && whole(plan.seeds) > seconds;) --plan.seeds;
  plan.seconds = whole(plan.seeds);
  if (plan.seconds <= seconds) return plan;
  // One seed. What is done stays as it is; the others get a share of their epochs.
  const auto one = [&](size_t c, double share) {
    const CellCost& cell = cells[c];
    if (plan.left_out[c] || cell.done_seeds > 0) return 0.0;
    const double before = cell.before_epochs > 0 ? cell.before.of(shared_epochs(cell.before_epochs, share)) : 0;
    return before + cell.cost.of(shared_epochs(cell.epochs, share));
  };
  const auto cut = [&](double share) {
    double sum = 0;
    for (size_t c = 0; c < cells.size(); ++c) sum += one(c, share);
    return sum;
  };
  while (cut(0) > seconds) {
    size_t dearest = 0;
    for (size_t c = 1; c < cells.size(); ++c) {
      if (one(c, 0) > one(dearest, 0)) dearest = c;
    }
    plan.left_out[dearest] = true;
  }
  double low = 0, high = 1;
  if (cut(1) <= seconds) low = 1;
  for (int step = 0; step < 40 && low < 1; ++step) {
    const double middle = (low + high) / 2;
    (cut(middle) <= seconds ? low : high) = middle;
  }
  plan.share = low;
  plan.seconds = cut(low);
  return plan;
}

double parse_duration(const std::string& text) {
  const auto wrong = [&] {
    return usage_error(fmt::format("'{}' is not a time; expected for instance 90s, 30m, 2h or 1h30m", text));
  };
  double seconds = 0;
  size_t at = 0;
  if (text.empty()) throw wrong();
  while (at < text.size()) {
    size_t used = 0;
    double number = 0;
    try {
      number = std::stod(text.substr(at), &used);
    } catch (const std::exception&) {
      throw wrong();
    }
    at += used;
    const char unit = at < text.size() ? text[at++] : 's';
    const double factor = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : unit == 'd' ? 86400 : 0;
    if (factor == 0 || !(number >= 0) || !std::isfinite(number)) throw wrong();
    seconds += factor * number;
  }
  if (!(seconds > 0)) throw wrong();
  return seconds;
}

std::string duration_text(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.{}f} s", seconds, seconds < 9.95 ? 1 : 0);
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace graphpae
