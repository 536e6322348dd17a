// Where a process stands among those that train one model together, as launchers say in the environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace graphpae {

struct ProcessPlace {
  int rank = 0, size = 1;
  std::string master;  // where rank 0 is
  int port = 0;
};

// From RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. Where MASTER_ADDR is set and neither of the first two is, from
// what Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE) or Slurm (SLURM_PROCID, SLURM_NTASKS) set. Nothing for a
// process alone. Throws a usage error that names the variable that is missing or makes no sense. `variable` is
// std::getenv.
std::optional<ProcessPlace> process_place(const std::function<const char*(const char*)>& variable);

}  // namespace graphpae
