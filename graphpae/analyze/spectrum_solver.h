// The long part of a spectrum: decompositions of whole graphs. Each is one call that says nothing until it ends; how
// far it is is told by the time the last one took.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "graphpae/analyze/corruption_spectrum.h"
#include "graphpae/core/stopwatch.h"

namespace graphpae {

// Throws a memory error if the `k` lowest eigenvectors (0: all) will not fit.
void check_spectrum_memory(const Graph& graph, int64_t k);

class SpectrumSolver {
 public:
  // What is under way and how much of all is done; called by a thread of its own, some times a second, until end().
  using Progress = std::function<void(int64_t percent, const std::string& what)>;

  // The `k` lowest eigenvectors by our own solver, or all by `whole` if k is 0. There will be `draws` of each
  // corruption, of which edge masking needs a decomposition each.
  SpectrumSolver(int64_t k, int64_t draws, Threads threads, FourierSolver whole, Progress progress);

  FourierBasis solve(const Adjacency& graph);
  void draw(const std::string& corruption, int64_t draw);  // one begins
  void end() { ticker_ = {}; }                             // nothing more will come

 private:
  void tick(const std::stop_token& ended);

  const int64_t k_, draws_;
  const Threads threads_;
  const FourierSolver whole_;
  const Progress progress_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  int64_t solved_ = 0;               // decompositions done
  bool solving_ = false;             // one is under way
  double seconds_per_solution_ = 0;  // as estimated, then as measured
  Stopwatch since_;                  // it began
  std::string what_ = "eigenvectors of the graph";
  std::jthread ticker_;
};

}  // namespace graphpae
