#include "graphpae/model/molecule_batch.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "graphpae/core/error.h"
#include "graphpae/kernels/float64_kernels.h"

namespace graphpae {
namespace {

constexpr int64_t kMoleculesPerTask = 256;

// sizes: values of every column; in the first of atoms, the last one is the mask token and no code of data.
KindTable number_kinds(const char* what, const Codes& codes, std::vector<int64_t> sizes,
                       const std::vector<int64_t>& offsets) {
  KindTable table;
  table.columns = codes.columns;
  if (table.columns != static_cast<int64_t>(sizes.size())) {
    throw data_error(fmt::format("{}s have {} codes each, the model wants {}", what, table.columns, sizes.size()));
  }
  std::unordered_map<uint64_t, int32_t> numbers;  // rows as numbers whose digits are the codes
  const int16_t* row = codes.values.data();
  table.kind_of.reserve(offsets.back());
  for (size_t g = 0; g + 1 < offsets.size(); ++g) {
    for (int64_t r = offsets[g]; r < offsets[g + 1]; ++r, row += table.columns) {
      uint64_t number = 0;
      for (int64_t c = 0; c < table.columns; ++c) {
        if (row[c] < 0 || row[c] >= sizes[c]) {
          throw data_error(fmt::format("molecule {}: {} {} has code {} in column {}, expected 0..{}", g, what,
                                       r - offsets[g], row[c], c, sizes[c] - 1));
        }
        number = number * static_cast<uint64_t>(sizes[c]) + static_cast<uint64_t>(row[c]);
      }
      const auto [place, is_new] = numbers.try_emplace(number, static_cast<int32_t>(numbers.size()));
      if (is_new) table.codes.insert(table.codes.end(), row, row + table.columns);
      table.kind_of.push_back(place->second);
    }
  }
  return table;
}

// Runs body(g) for every molecule, in parallel.
template <class Body>
void for_molecules(int64_t count, Threads threads, const Body& body) {
  parallel_tasks(threads, (count + kMoleculesPerTask - 1) / kMoleculesPerTask, [&](int64_t task) {
    const int64_t last = std::min(count, (task + 1) * kMoleculesPerTask);
    for (int64_t g = task * kMoleculesPerTask; g < last; ++g) body(g);
  });
}

}  // namespace

MoleculeInputs::MoleculeInputs(const GraphSet& set, const InputShape& shape, std::vector<double> positions,
                               Threads threads, Kernels kernels)
    : shape_(shape), threads_(threads), kernels_(kernels), positions_(std::move(positions)) {
  if (!set.has_structure()) throw data_error("the molecules have no structure: only their texts were read");
  const GraphSetParts& parts = set.parts();
  node_offsets_ = parts.node_offsets;
  for (int64_t g = 0; g < num_molecules(); ++g) {
    if (num_atoms(g) > 0) with_atoms_.push_back(static_cast<int32_t>(g));
  }
  if (with_atoms_.empty()) throw data_error("none of the molecules has atoms");
  std::vector<int64_t> atom_sizes = shape.atom_codes;
  --atom_sizes.at(0);  // the mask token
  atoms_ = number_kinds("atom", parts.node_codes, atom_sizes, parts.node_offsets);
  bonds_ = number_kinds("bond", parts.edge_codes, shape.bond_codes, parts.edge_offsets);
  order_edges(set);
  if (positions_.empty()) return;
  k_ = static_cast<int64_t>(positions_.size()) / node_offsets_.back();
  measure_edges();
}

void MoleculeInputs::order_edges(const GraphSet& set) {
  const GraphSetParts& parts = set.parts();
  for (const int64_t offset : parts.edge_offsets) edge_offsets_.push_back(2 * offset);
  const int64_t edges = edge_offsets_.back();
  sources_.resize(edges);
  targets_.resize(edges);
  const std::vector<int32_t> kind_of_bond = std::move(bonds_.kind_of);
  bonds_.kind_of.resize(edges);
  struct Directed {
    int32_t target, source, kind;
  };
  for_molecules(num_molecules(), threads_, [&](int64_t g) {
    thread_local std::vector<Directed> list;
    list.clear();
    for (int64_t b = parts.edge_offsets[g]; b < parts.edge_offsets[g + 1]; ++b) {
      const auto [i, j] = parts.edges[b];
      if (i == j) throw data_error(fmt::format("molecule {}: a bond joins atom {} to itself", g, i));
      list.push_back({i, j, kind_of_bond[b]});
      list.push_back({j, i, kind_of_bond[b]});
    }
    std::sort(list.begin(), list.end(), [](const Directed& a, const Directed& b) {
      return a.target != b.target ? a.target < b.target : a.source < b.source;
    });
    for (size_t e = 0; e < list.size(); ++e) {
      if (e > 0 && list[e].target == list[e - 1].target && list[e].source == list[e - 1].source) {
        throw data_error(
            fmt::format("molecule {}: the bond of atoms {} and {} is listed twice", g, list[e].target, list[e].source));
      }
      const int64_t place = edge_offsets_[g] + static_cast<int64_t>(e);
      sources_[place] = list[e].source;
      targets_[place] = list[e].target;
      bonds_.kind_of[place] = list[e].kind;
    }
  });
}

void MoleculeInputs::measure_edges() {
  distances_.resize(sources_.size());
  for_molecules(num_molecules(), threads_, [&](int64_t g) {
    const int64_t first = edge_offsets_[g];
    kernels::edge_distances(positions_.data() + node_offsets_[g] * k_, k_, sources_.data() + first,
                            targets_.data() + first, 0, edge_offsets_[g + 1] - first, distances_.data() + first);
  });
}

CodedRows MoleculeInputs::kinds_of(std::span<const MoleculeInputs* const> sets,
                                   std::span<const MoleculePlace> molecules, KindTable MoleculeInputs::*table,
                                   std::vector<int64_t> MoleculeInputs::*offsets) {
  constexpr int32_t kUnseen = -1;
  std::vector<std::vector<int32_t>> numbers;  // in the batch, of every kind of every set
  for (const MoleculeInputs* set : sets) numbers.emplace_back((set->*table).size(), kUnseen);
  const int64_t columns = (sets[0]->*table).columns;
  std::map<std::vector<int64_t>, int32_t> seen;  // sets number their kinds apart: rows of codes tell equal ones
  std::vector<int64_t> codes;
  CodedRows rows;
  for (const MoleculePlace& place : molecules) {
    const MoleculeInputs& set = *sets[place.set];
    const KindTable& kinds = set.*table;
    std::vector<int32_t>& number = numbers[place.set];
    for (int64_t r = (set.*offsets)[place.molecule]; r < (set.*offsets)[place.molecule + 1]; ++r) {
      const int32_t kind = kinds.kind_of[r];
      if (number[kind] == kUnseen) {
        const auto row = kinds.codes.begin() + kind * columns;
        const auto [entry, is_new] =
            seen.try_emplace(std::vector<int64_t>(row, row + columns), static_cast<int32_t>(seen.size()));
        if (is_new) codes.insert(codes.end(), row, row + columns);
        number[kind] = entry->second;
      }
      rows.kind_of.push_back(number[kind]);
    }
  }
  rows.kinds = torch::empty({static_cast<int64_t>(seen.size()), columns}, torch::kInt64);
  std::copy(codes.begin(), codes.end(), rows.kinds.data_ptr<int64_t>());
  return rows;
}

GraphInput MoleculeInputs::batch(std::span<const int32_t> molecules) const {
  std::vector<MoleculePlace> places;
  places.reserve(molecules.size());
  for (const int32_t g : molecules) places.push_back({0, g});
  const MoleculeInputs* const self[] = {this};
  return batch(self, places);
}

GraphInput MoleculeInputs::batch(std::span<const MoleculeInputs* const> sets,
                                 std::span<const MoleculePlace> molecules) {
  const MoleculeInputs& common = *sets[0];
  GraphInput input;
  input.threads = common.threads_;
  input.kernels = common.kernels_;
  input.workspace = common.workspace_;

  int64_t edges = 0;
  for (const auto& [set, g] : molecules) edges += sets[set]->edge_offsets_[g + 1] - sets[set]->edge_offsets_[g];
  std::vector<int32_t> sources, targets;
  sources.reserve(edges);
  targets.reserve(edges);
  input.graph_offsets.push_back(0);
  for (const auto& [s, g] : molecules) {
    const MoleculeInputs& set = *sets[s];
    const int32_t base = static_cast<int32_t>(input.graph_offsets.back());
    for (int64_t e = set.edge_offsets_[g]; e < set.edge_offsets_[g + 1]; ++e) {
      sources.push_back(base + set.sources_[e]);
      targets.push_back(base + set.targets_[e]);
    }
    input.graph_offsets.push_back(base + set.num_atoms(g));
  }
  const int64_t nodes = input.graph_offsets.back();
  input.graph = MessageGraph(EdgeIndex::from_list(sources, targets, nodes));

  input.atoms = kinds_of(sets, molecules, &MoleculeInputs::atoms_, &MoleculeInputs::node_offsets_);
  input.bonds = kinds_of(sets, molecules, &MoleculeInputs::bonds_, &MoleculeInputs::edge_offsets_);
  std::vector<int64_t> row_offsets(nodes + 1);
  std::vector<int32_t> types(nodes);
  const int64_t* kinds = input.atoms.kinds.data_ptr<int64_t>();
  for (int64_t i = 0; i < nodes; ++i) {
    row_offsets[i + 1] = i + 1;
    types[i] = static_cast<int32_t>(kinds[input.atoms.kind_of[i] * common.atoms_.columns]);
  }
  input.features = NodeFeatures(
      std::make_shared<const Features>(Features::sparse(nodes, common.shape_.atom_codes[0] - 1, std::move(row_offsets),
                                                        std::move(types), std::vector<float>(nodes, 1.0f))));

  const int64_t k = common.k_;
  if (k == 0) return input;
  input.positions = torch::empty({nodes, k}, torch::kFloat64);
  input.distances = torch::empty({edges}, torch::kFloat32);
  double* position = input.positions.data_ptr<double>();
  float* distance = input.distances.data_ptr<float>();
  for (const auto& [s, g] : molecules) {
    const MoleculeInputs& set = *sets[s];
    position = std::copy(set.positions_.data() + set.node_offsets_[g] * k,
                         set.positions_.data() + set.node_offsets_[g + 1] * k, position);
    distance = std::copy(set.distances_.data() + set.edge_offsets_[g], set.distances_.data() + set.edge_offsets_[g + 1],
                         distance);
  }
  return input;
}

}  // namespace graphpae
