#include "graphpae/cli/spectrum_work.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/core/tensors.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae::cli {
namespace {

using Clock = std::chrono::steady_clock;

// L = I - D^-1/2 A D^-1/2 as a full matrix [N,N]; isolated nodes have 1 on the diagonal.
torch::Tensor dense_laplacian(const Adjacency& graph) {
  const int64_t n = graph.num_nodes();
  torch::Tensor matrix = torch::eye(n, torch::kFloat64);
  double* values = matrix.data_ptr<double>();
  std::vector<double> root(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    root[i] = 1 / std::sqrt(static_cast<double>(std::max<size_t>(graph.row(i).size(), 1)));
  for (int64_t i = 0; i < n; ++i) {
    for (const int32_t j : graph.row(i)) values[i * n + j] -= root[i] * root[j];
  }
  return matrix;
}

FourierBasis whole_basis(const Adjacency& graph) {
  const int64_t n = graph.num_nodes();
  const auto [eigenvalues, eigenvectors] = torch::linalg_eigh(dense_laplacian(graph), "L");
  const torch::Tensor rows = eigenvectors.contiguous();
  FourierBasis basis;
  basis.num_nodes = basis.k = n;
  basis.eigenvalues.assign(eigenvalues.data_ptr<double>(), eigenvalues.data_ptr<double>() + n);
  // Rounding may leave 0 and 2 by a little.
  for (double& value : basis.eigenvalues) value = std::clamp(value, 0.0, 2.0);
  basis.vectors.assign(rows.data_ptr<double>(), rows.data_ptr<double>() + n * n);
  return basis;
}

}  // namespace

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

SpectrumWork::SpectrumWork(int64_t k, int64_t draws, const Common& common)
    : k_(k), draws_(draws), common_(common), progress_(common, "%", 100), ticker_([this] { tick(); }) {
  use_threads_in_torch(common.thread_count());
}

SpectrumWork::~SpectrumWork() { end(); }

void SpectrumWork::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

FourierBasis SpectrumWork::solve(const Adjacency& graph) {
  const double n = static_cast<double>(graph.num_nodes());
  {
    const std::lock_guard lock(mutex_);
    solving_ = true;
    since_ = Clock::now();
    // About twenty operations per entry and node, until the first is done.
    if (solved_ == 0) seconds_per_solution_ = k_ == 0 ? 4e-10 * n * n * n : 10;
  }
  FourierBasis basis = k_ == 0 ? whole_basis(graph) : fourier_basis(graph, k_, common_.thread_count());
  const std::lock_guard lock(mutex_);
  solving_ = false;
  ++solved_;
  seconds_per_solution_ = std::chrono::duration<double>(Clock::now() - since_).count();
  return basis;
}

void SpectrumWork::draw(const std::string& corruption, int64_t draw) {
  const std::lock_guard lock(mutex_);
  what_ = fmt::format("{} {}/{}", corruption, draw + 1, draws_);
  std::replace(what_.begin(), what_.end(), '_', ' ');
}

// A decomposition is one call that says nothing until it ends: how far it is is told by the time the last one took.
void SpectrumWork::tick() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    double part = 0;
    if (solving_ && seconds_per_solution_ > 0) {
      const double x = std::chrono::duration<double>(Clock::now() - since_).count() / seconds_per_solution_;
      part = x < 0.8 ? x : 1 - 0.2 * std::exp((0.8 - x) / 0.8);  // slower and slower if it takes longer
    }
    const double share = (static_cast<double>(solved_) + part) / static_cast<double>(1 + draws_);
    progress_.update(static_cast<int64_t>(100 * std::min(share, 1.0)), what_);
    wake_.wait_for(lock, std::chrono::milliseconds(200));
  }
}

}  // namespace graphpae::cli
