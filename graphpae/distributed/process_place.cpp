#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "graphpae/core/error.h"
#include "graphpae/distributed/processes.h"

namespace graphpae {
namespace {

struct Names {
  const char *rank, *size;
};
constexpr Names kUsual{"RANK", "WORLD_SIZE"};
constexpr Names kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}};

int number_in(const char* name, const char* text, int least, int most) {
  int value = -1;
  const char* end = text + std::strlen(text);
  const auto [stop, failure] = std::from_chars(text, end, value);
  if (failure != std::errc() || stop != end || value < least || value > most)
    throw usage_error(fmt::format("{}={}: expected a number from {} to {}", name, text, least, most));
  return value;
}

}  // namespace

std::optional<ProcessPlace> process_place(const std::function<const char*(const char*)>& variable) {
  const auto is_set = [&](const char* name) { return variable(name) != nullptr; };
  Names names = kUsual;
  if (!is_set(names.rank) && !is_set(names.size)) {
    if (!is_set("MASTER_ADDR")) return std::nullopt;
    for (const Names& launcher : kLaunchers) {
      if (is_set(launcher.rank) && is_set(launcher.size)) names = launcher;
    }
    if (names.rank == kUsual.rank) return std::nullopt;
  }
  for (const char* name : {names.rank, names.size, "MASTER_ADDR", "MASTER_PORT"}) {
    if (is_set(name)) continue;
    throw usage_error(
        fmt::format("{} is set and {} is not: one process of several needs both, MASTER_ADDR and MASTER_PORT",
                    is_set(names.size) ? names.size : names.rank, name));
  }
  ProcessPlace place;
  place.size = number_in(names.size, variable(names.size), 1, 1 << 20);
  place.rank = number_in(names.rank, variable(names.rank), 0, place.size - 1);
  place.master = variable("MASTER_ADDR");
  place.port = number_in("MASTER_PORT", variable("MASTER_PORT"), 1, 65535);
  return place;
}

}  // namespace graphpae
