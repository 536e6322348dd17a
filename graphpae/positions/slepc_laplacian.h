// L of one component as a PETSc matrix whose rows are distributed over ranks. Included by slepc_*.cpp only.
#pragma once

#include <cstdint>

#include "graphpae/core/adjacency.h"
#include "graphpae/positions/component_split.h"
#include "graphpae/positions/slepc_handles.h"

namespace graphpae {

class SlepcLaplacian {
 public:
  // Every rank reads and inserts its own rows.
  SlepcLaplacian(const GraphView& graph, const ComponentSplit& split, int64_t component);

  Mat matrix() const { return matrix_; }
  int64_t num_nodes() const { return num_nodes_; }
  int64_t first() const { return first_; }  // of this rank's rows
  int64_t last() const { return last_; }    // one after the last

  VecHandle vector() const;        // not initialised
  VecHandle known_vector() const;  // D^1/2, of length one

  // ||L u - value u|| and the Rayleigh quotient `value` of a vector u of length one.
  struct Measure {
    double value, residual;
  };
  Measure measure(Vec u) const;

 private:
  void insert_rows();

  const GraphView& graph_;
  const ComponentSplit& split_;
  int64_t component_, num_nodes_, first_, last_;
  MatHandle matrix_;
};

}  // namespace graphpae
