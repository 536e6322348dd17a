#include "graphpae/analyze/spectrum_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae {

void check_spectrum_memory(const Graph& graph, int64_t k) {
  const int64_t n = graph.num_nodes();
  PositionOptions options;
  options.k = k;
  // All: the matrix, its eigenvectors, LAPACK's workspace, two bases.
  const int64_t needed =
      k == 0 ? 8 * 7 * n * n
             : position_memory(n, static_cast<int64_t>(graph.adjacency().neighbours().size()), options) + 16 * n * k;
  if (needed <= available_memory()) return;
  throw memory_error(
      fmt::format("the spectrum needs about {:.1f} GB, {:.1f} GB are available; --eigenvectors takes fewer",
                  static_cast<double>(needed) / 1e9, static_cast<double>(available_memory()) / 1e9));
}

SpectrumSolver::SpectrumSolver(int64_t k, int64_t draws, Threads threads, FourierSolver whole, Progress progress)
    : k_(k),
      draws_(draws),
      threads_(threads),
      whole_(std::move(whole)),
      progress_(std::move(progress)),
      ticker_([this](const std::stop_token& ended) { tick(ended); }) {}

FourierBasis SpectrumSolver::solve(const Adjacency& graph) {
  const double n = static_cast<double>(graph.num_nodes());
  {
    const std::lock_guard lock(mutex_);
    solving_ = true;
    since_.restart();
    // About twenty operations per entry and node, until the first is done.
    if (solved_ == 0) seconds_per_solution_ = k_ == 0 ? 4e-10 * n * n * n : 10;
  }
  FourierBasis basis = k_ == 0 ? whole_(graph) : fourier_basis(graph, k_, threads_);
  const std::lock_guard lock(mutex_);
  solving_ = false;
  ++solved_;
  seconds_per_solution_ = since_.seconds();
  return basis;
}

void SpectrumSolver::draw(const std::string& corruption, int64_t draw) {
  const std::lock_guard lock(mutex_);
  what_ = fmt::format("{} {}/{}", corruption, draw + 1, draws_);
  std::replace(what_.begin(), what_.end(), '_', ' ');
}

void SpectrumSolver::tick(const std::stop_token& ended) {
  std::unique_lock lock(mutex_);
  while (!ended.stop_requested()) {
    double part = 0;
    if (solving_ && seconds_per_solution_ > 0) {
      const double x = since_.seconds() / seconds_per_solution_;
      part = x < 0.8 ? x : 1 - 0.2 * std::exp((0.8 - x) / 0.8);  // slower and slower if it takes longer
    }
    const double share = (static_cast<double>(solved_) + part) / static_cast<double>(1 + draws_);
    progress_(static_cast<int64_t>(100 * std::min(share, 1.0)), what_);
    wake_.wait_for(lock, ended, std::chrono::milliseconds(200), [] { return false; });
  }
}

}  // namespace graphpae
