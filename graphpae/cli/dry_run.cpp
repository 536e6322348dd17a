#include "graphpae/cli/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphpae/core/memory.h"
#include "graphpae/reproduce/budget.h"

namespace graphpae::cli {

void print_estimate(const run::TrainingEstimate& estimate, const Common& common) {
  const bool tried = estimate.seconds_per_epoch > 0;
  const double seconds = estimate.seconds_per_epoch * static_cast<double>(estimate.epochs);
  if (common.json) {
    Json named;
    for (const auto& [name, shape] : estimate.shapes) named[name] = shape;
    return print_json({{"parameters", estimate.parameters},
                       {"bytes", estimate.bytes},
                       {"seconds_per_epoch", tried ? Json(estimate.seconds_per_epoch) : Json()},
                       {"seconds", tried ? Json(seconds) : Json()},
                       {"shapes", named}});
  }
  for (const auto& [name, shape] : estimate.shapes) fmt::print("  {:<36} [{}]\n", name, fmt::join(shape, ", "));
  fmt::print("parameters     {}\n", estimate.parameters);
  fmt::print("memory         about {:.2f} GB ({:.2f} GB available)\n", static_cast<double>(estimate.bytes) / 1e9,
             static_cast<double>(available_memory()) / 1e9);
  if (tried) {
    fmt::print("an epoch       about {:.2g} s\n", estimate.seconds_per_epoch);
    fmt::print("{:<14} about {}\n", fmt::format("{} epochs", estimate.epochs), duration_text(seconds));
  } else {
    fmt::print("an epoch       not tried, it does not fit into memory\n");
  }
  fmt::print("dry run: nothing was written\n");
}

}  // namespace graphpae::cli
