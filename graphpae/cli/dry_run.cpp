#include "graphpae/cli/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphpae/core/memory.h"
#include "graphpae/reproduce/budget.h"

namespace graphpae::cli {

void print_estimate(const Estimate& estimate, const NamedShapes& shapes, int64_t epochs, const Common& common) {
  const double seconds = estimate.seconds * static_cast<double>(epochs);
  if (common.json) {
    Json named;
    for (const auto& [name, shape] : shapes) named[name] = shape;
    return print_json({{"parameters", estimate.parameters},
                       {"bytes", estimate.bytes},
                       {"flops_per_epoch", estimate.flops},
                       {"seconds_per_epoch", estimate.seconds},
                       {"seconds", seconds},
                       {"shapes", named}});
  }
  for (const auto& [name, shape] : shapes) fmt::print("  {:<36} [{}]\n", name, fmt::join(shape, ", "));
  fmt::print("parameters     {}\n", estimate.parameters);
  fmt::print("memory         about {:.2f} GB ({:.2f} GB available)\n", static_cast<double>(estimate.bytes) / 1e9,
             static_cast<double>(available_memory()) / 1e9);
  fmt::print("an epoch       about {:.2g} s ({:.3g} GFLOP)\n", estimate.seconds, estimate.flops / 1e9);
  fmt::print("{:<14} about {}\n", fmt::format("{} epochs", epochs), duration_text(seconds));
  fmt::print("dry run: nothing was written\n");
}

}  // namespace graphpae::cli
