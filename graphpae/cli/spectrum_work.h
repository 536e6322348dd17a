// The long part of `spectrum`: decompositions of whole graphs, with a bar that moves.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "graphpae/analyze/graph_fourier.h"
#include "graphpae/cli/progress.h"
#include "graphpae/core/graph.h"

namespace graphpae::cli {

// Throws a memory error if the `k` lowest eigenvectors (0: all) will not fit.
void check_spectrum_memory(const Graph& graph, int64_t k);

class SpectrumWork {
 public:
  // `draws` of each corruption, of which edge masking needs a decomposition each.
  SpectrumWork(int64_t k, int64_t draws, const Common& common);
  ~SpectrumWork();

  // All eigenvectors by LAPACK, or the lowest ones by our own solver.
  FourierBasis solve(const Adjacency& graph);
  void draw(const std::string& corruption, int64_t draw);  // one begins
  void end();                                              // nothing more will come

 private:
  void tick();

  const int64_t k_, draws_;
  const Common& common_;
  Progress progress_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  int64_t solved_ = 0;               // decompositions done
  bool solving_ = false;             // one is under way
  double seconds_per_solution_ = 0;  // as estimated, then as measured
  std::chrono::steady_clock::time_point since_;
  std::string what_ = "eigenvectors of the graph";
  std::thread ticker_;
};

}  // namespace graphpae::cli
