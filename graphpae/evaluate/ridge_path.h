// RidgePath: ridges for a list of penalties, with targets that may be missing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/core/threads.h"
#include "graphpae/evaluate/kernel_ridge.h"
#include "graphpae/evaluate/learning_task.h"

namespace graphpae {

class RidgePath {
 public:
  // k [n,n]: similarities of the rows `fitted` with each other. Outputs whose targets are missing in the same rows
  // share their factorisations; all do with `fill`, for which a missing target is the mean of those that are there:
  // quick, and good enough to compare blocks.
  RidgePath(Buffer<float> k, std::span<const int32_t> fitted, const LearningTask& task,
            std::span<const double> penalties, Threads threads, bool fill = false);

  // The predictions [m,T] of each penalty, from similarities [m,n] of m rows with those that were fitted. An output
  // without any target is predicted as 0.
  std::vector<std::vector<float>> predict(const Buffer<float>& similarities, int64_t m) const;

 private:
  struct Group {
    std::vector<int64_t> places, outputs;
    KernelRidge ridge;
    std::vector<KernelRidge::Weights> path;  // [penalties]
  };
  int64_t n_, outputs_, penalties_;
  std::vector<Group> groups_;
};

}  // namespace graphpae
