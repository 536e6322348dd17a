#include "graphpae/positions/slepc_laplacian.h"

#include <cmath>
#include <tuple>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/slepc_session.h"

namespace graphpae {

SlepcLaplacian::SlepcLaplacian(const GraphView& graph, const ComponentSplit& split, int64_t component)
    : graph_(graph),
      split_(split),
      component_(component),
      num_nodes_(static_cast<int64_t>(split.nodes(component).size())) {
  std::tie(first_, last_) = part_of(num_nodes_, SlepcSession::rank(), SlepcSession::ranks());
  const auto nodes = split.nodes(component);
  // Entries of each row in columns of this rank's range, and in others; one more for the diagonal.
  std::vector<PetscInt> inside(last_ - first_, 0), outside(last_ - first_, 0);
  int64_t entries = 0;
  for (int64_t i = first_; i < last_; ++i) {
    inside[i - first_] = 1;
    for (const int32_t v : graph.row(nodes[i])) {
      const int64_t column = split.place(v);
      if (column == i) continue;
      ++(column >= first_ && column < last_ ? inside : outside)[i - first_];
    }
    entries += inside[i - first_] + outside[i - first_];
  }
  if (entries > PETSC_MAX_INT)
    throw usage_error("positions: a rank has more edges than this PETSc can count; start more ranks");
  const PetscInt rows = static_cast<PetscInt>(last_ - first_), all = static_cast<PetscInt>(num_nodes_);
  slepc_call(MatCreateAIJ(PETSC_COMM_WORLD, rows, rows, all, all, 0, inside.data(), 0, outside.data(), matrix_.fill()));
  slepc_call(MatSetOption(matrix_, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  insert_rows();
}

void SlepcLaplacian::insert_rows() {
  const auto nodes = split_.nodes(component_);
  std::vector<PetscInt> columns;
  std::vector<PetscScalar> values;
  for (int64_t i = first_; i < last_; ++i) {
    const double degree = static_cast<double>(graph_.degree(nodes[i]));
    columns.assign(1, static_cast<PetscInt>(i));
    values.assign(1, 1.0);
    for (const int32_t v : graph_.row(nodes[i])) {
      const double entry = -1.0 / std::sqrt(degree * static_cast<double>(graph_.degree(v)));
      if (v == nodes[i]) {
        values[0] += entry;  // a self loop
      } else {
        columns.push_back(static_cast<PetscInt>(split_.place(v)));
        values.push_back(entry);
      }
    }
    slepc_call(MatSetValues(matrix_, 1, columns.data(), static_cast<PetscInt>(columns.size()), columns.data(),
                            values.data(), INSERT_VALUES));
  }
  slepc_call(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
  slepc_call(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
}

VecHandle SlepcLaplacian::vector() const {
  VecHandle vector;
  slepc_call(MatCreateVecs(matrix_, vector.fill(), nullptr));
  return vector;
}

VecHandle SlepcLaplacian::known_vector() const {
  VecHandle known = vector();
  PetscScalar* entries = nullptr;
  slepc_call(VecGetArrayWrite(known, &entries));
  for (int64_t i = first_; i < last_; ++i) {
    entries[i - first_] = std::sqrt(static_cast<double>(graph_.degree(split_.nodes(component_)[i])));
  }
  slepc_call(VecRestoreArrayWrite(known, &entries));
  slepc_call(VecNormalize(known, nullptr));
  return known;
}

SlepcLaplacian::Measure SlepcLaplacian::measure(Vec u) const {
  const VecHandle product = vector();
  Measure result{};
  slepc_call(MatMult(matrix_, u, product));
  slepc_call(VecDot(product, u, &result.value));
  slepc_call(VecAXPY(product, -result.value, u));
  slepc_call(VecNorm(product, NORM_2, &result.residual));
  return result;
}

}  // namespace graphpae
