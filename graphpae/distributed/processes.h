// Processes: those that train one model together, over LibTorch's c10d with Gloo.
//
// Rank 0 keeps a store of texts on MASTER_PORT, through which they meet; sums go from process to process. Every process
// writes a heartbeat into the store. If a sum breaks off, those that are left look at the heartbeats and say who is
// gone.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/core/exchange.h"

namespace graphpae {

// Where a process stands among those that train one model together, as launchers say in the environment.
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

class Processes final : public Exchange {
 public:
  // Meets the others. `timeout` in seconds is for that and for every sum later. Throws a usage error that names the
  // master, or the ranks, that did not come.
  Processes(const ProcessPlace& place, double timeout);
  ~Processes() override;

  int rank() const override;
  int size() const override;
  void sum(std::span<double> values) override;

  // A sum of float tensors that goes on while others do something else.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void wait() = 0;  // throws as sum
  };
  std::unique_ptr<Pending> begin_sum(torch::Tensor values);  // in place

  // Tensors of rank 0 to all, in place.
  void broadcast(const std::vector<torch::Tensor>& tensors);

  // The text of rank 0. A key is used once.
  std::string text_of_first(const std::string& key, const std::string& text);
  // Throws a usage error in all processes if one of them has a complaint (not empty): that of the lowest rank, which it
  // names. A key is used once.
  void agree(const std::string& key, const std::string& complaint);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace graphpae
