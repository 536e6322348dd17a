// Small molecules for tests of the model, made by hand: codes as the transfer featurizer writes them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "graphpae/core/graph_set.h"
#include "graphpae/core/rng.h"
#include "graphpae/settings/settings.h"

namespace graphpae::test {

struct SmallMolecule {
  std::vector<int16_t> types;  // of its atoms
  std::vector<Edge> bonds;
};

// Atoms have codes (type, type % 3), bond b has codes (b % 4, b % 2).
inline GraphSetParts molecule_parts(const std::vector<SmallMolecule>& molecules) {
  GraphSetParts parts;
  parts.num_graphs = static_cast<int64_t>(molecules.size());
  parts.node_offsets = {0};
  parts.edge_offsets = {0};
  parts.node_codes.columns = parts.edge_codes.columns = 2;
  for (const SmallMolecule& molecule : molecules) {
    for (const int16_t type : molecule.types)
      parts.node_codes.values.insert(parts.node_codes.values.end(), {type, static_cast<int16_t>(type % 3)});
    for (size_t b = 0; b < molecule.bonds.size(); ++b) {
      parts.edges.push_back(molecule.bonds[b]);
      parts.edge_codes.values.insert(parts.edge_codes.values.end(),
                                     {static_cast<int16_t>(b % 4), static_cast<int16_t>(b % 2)});
    }
    parts.node_offsets.push_back(parts.node_offsets.back() + static_cast<int64_t>(molecule.types.size()));
    parts.edge_offsets.push_back(parts.edge_offsets.back() + static_cast<int64_t>(molecule.bonds.size()));
  }
  return parts;
}

// A ring with a tail; one atom; two fragments; two atoms without a bond; no atoms; a chain.
inline std::vector<SmallMolecule> odd_molecules() {
  return {{{5, 5, 6, 5, 5, 7}, {{0, 1}, {1, 2}, {3, 2}, {3, 4}, {4, 0}, {4, 5}}},
          {{7}, {}},
          {{5, 7, 5, 16}, {{2, 0}, {0, 1}}},
          {{10, 16}, {}},
          {{}, {}},
          {{6, 5, 6, 5}, {{0, 1}, {1, 2}, {2, 3}}}};
}
inline GraphSet odd_set() { return GraphSet(molecule_parts(odd_molecules())); }

// `count` random trees of 4 to 12 atoms, some with a ring; the type of an atom depends on those around it.
inline GraphSet random_molecules(int64_t count, uint64_t seed = 1) {
  std::vector<SmallMolecule> molecules;
  uint64_t draw = 0;
  const Rng rng(seed);
  for (int64_t m = 0; m < count; ++m) {
    const int32_t atoms = static_cast<int32_t>(4 + rng.below(draw++, 9));
    SmallMolecule molecule;
    std::vector<int16_t> degree(atoms, 0);
    const auto join = [&](int32_t a, int32_t b) {
      molecule.bonds.push_back({a, b});
      ++degree[a];
      ++degree[b];
    };
    for (int32_t i = 1; i < atoms; ++i) {
      const int32_t near = static_cast<int32_t>(rng.below(draw++, std::min(i, 3)));
      join(i - 1 - near, i);
    }
    if (atoms > 5 && molecule.bonds[atoms - 2].src != 0) join(0, atoms - 1);
    for (int32_t i = 0; i < atoms; ++i) molecule.types.push_back(static_cast<int16_t>(4 + degree[i]));
    molecules.push_back(std::move(molecule));
  }
  return GraphSet(molecule_parts(molecules));
}

inline Settings small_molecule_settings() {
  Settings settings;
  settings.encoder = EncoderKind::gated_gcn;
  settings.layers = 2;
  settings.width = 24;
  settings.gaussians = 12;
  settings.gaussian_range = 3;
  settings.eigenvectors = 4;
  settings.skip_zero_eigenvalues = true;
  settings.absolute_positions = true;
  settings.position_norm = PositionNorm::l2;
  settings.mask_ratio = 0.4;
  settings.noise = 0.05;
  settings.alpha = 0.5;
  settings.gamma = 1;
  settings.epochs = 4;
  settings.batch_size = 5;
  settings.schedule = Schedule::constant;
  settings.lr = 5e-3;
  settings.seed = 3;
  return settings;
}

}  // namespace graphpae::test
