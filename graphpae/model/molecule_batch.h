// MoleculeInputs: molecules prepared once, so that what the model sees of a batch of them is a gather.
//
// Every bond is two directed edges. Within a molecule the edges are in the order of EdgeIndex: by target, then by
// source.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graphpae/core/graph_set.h"
#include "graphpae/model/encoder.h"
#include "graphpae/model/graph_input.h"

namespace graphpae {

// Rows of codes of a whole set: the distinct ones, numbered as they appear, and which of them each row is.
struct KindTable {
  int64_t columns = 0;           // A
  std::vector<int64_t> codes;    // [U,A] row-major
  std::vector<int32_t> kind_of;  // [R]

  int64_t size() const { return columns == 0 ? 0 : static_cast<int64_t>(codes.size()) / columns; }  // U
};

// A molecule of one of several sets.
struct MoleculePlace {
  int32_t set = 0, molecule = 0;
};

class MoleculeInputs {
 public:
  // positions [N,K] float64 of all atoms, row-major; empty without positions. Throws a data error that names the
  // molecule for codes outside those of `shape`, for a bond of an atom with itself and for a bond listed twice.
  MoleculeInputs(const GraphSet& set, const InputShape& shape, std::vector<double> positions, Threads threads,
                 Kernels kernels);

  int64_t num_molecules() const { return static_cast<int64_t>(node_offsets_.size()) - 1; }
  int64_t num_atoms(int64_t molecule) const { return node_offsets_[molecule + 1] - node_offsets_[molecule]; }
  // The molecules that have atoms, ascending: rows that are no molecules have none.
  const std::vector<int32_t>& with_atoms() const { return with_atoms_; }
  const InputShape& shape() const { return shape_; }
  Threads threads() const { return threads_; }
  bool fused() const { return kernels_ == Kernels::fused; }  // as GraphInput::fused() of its batches

  // The molecules side by side, in the order given. Only kinds that occur are in its tables, numbered as they appear.
  GraphInput batch(std::span<const int32_t> molecules) const;
  // The same for molecules of several sets, at least one, that have the same shape, positions and options.
  static GraphInput batch(std::span<const MoleculeInputs* const> sets, std::span<const MoleculePlace> molecules);

 private:
  void order_edges(const GraphSet& set);
  void measure_edges();
  static CodedRows kinds_of(std::span<const MoleculeInputs* const> sets, std::span<const MoleculePlace> molecules,
                            KindTable MoleculeInputs::*table, std::vector<int64_t> MoleculeInputs::*offsets);

  InputShape shape_;
  Threads threads_;
  Kernels kernels_;
  std::vector<int64_t> node_offsets_, edge_offsets_;  // [G+1], edges directed
  std::vector<int32_t> with_atoms_;
  std::vector<int32_t> sources_, targets_;  // [E] local to their molecule
  KindTable atoms_, bonds_;                 // of atoms [N], of directed edges [E]
  int64_t k_ = 0;                           // 0 without positions
  std::vector<double> positions_;           // [N,K]
  std::vector<float> distances_;            // [E]
  std::shared_ptr<FusedWorkspace> workspace_ = std::make_shared<FusedWorkspace>();
};

}  // namespace graphpae
