#include "graphpae/model/molecule_batch.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "graphpae/model/inputs.h"
#include "graphpae/model/modules.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"

namespace graphpae {
namespace {

using test::molecule_parts;
using test::odd_set;
using test::same_bits;

template <class T>
std::vector<T> list(std::span<const T> values) {
  return {values.begin(), values.end()};
}

std::vector<int64_t> numbers(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.to(torch::kInt64).contiguous();
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel()};
}

TEST(MoleculeBatch, MoleculesSideBySide) {
  const auto molecules = prepare(odd_set(), test::small_molecule_settings());
  EXPECT_EQ(molecules->num_molecules(), 6);
  EXPECT_EQ(molecules->with_atoms(), (std::vector<int32_t>{0, 1, 2, 3, 5}));
  const std::vector<int32_t> chosen = {5, 1, 2};
  const GraphInput input = molecules->batch(chosen);
  EXPECT_EQ(input.graph_offsets, (std::vector<int64_t>{0, 4, 5, 9}));
  // The chain 0-1-2-3, atom 4, then 2-0-1 and a lone atom from 5 on; by target, sources ascending.
  EXPECT_EQ(list(input.graph.index->targets()), (std::vector<int32_t>{0, 1, 1, 2, 2, 3, 5, 5, 6, 7}));
  EXPECT_EQ(list(input.graph.index->sources()), (std::vector<int32_t>{1, 0, 2, 1, 3, 2, 6, 7, 5, 5}));
  EXPECT_EQ(input.graph.index->num_pairs(), 5);

  EXPECT_EQ(numbers(input.atoms.dense().select(1, 0)), (std::vector<int64_t>{6, 5, 6, 5, 7, 5, 7, 5, 16}));
  EXPECT_EQ(numbers(input.atoms.dense().select(1, 1)), (std::vector<int64_t>{0, 2, 0, 2, 1, 2, 1, 2, 1}));
  EXPECT_EQ(input.atoms.kind_of, (std::vector<int32_t>{0, 1, 0, 1, 2, 1, 2, 1, 3}));
  EXPECT_EQ(numbers(input.bonds.dense().select(1, 0)), (std::vector<int64_t>{0, 0, 1, 1, 2, 2, 1, 0, 1, 0}));
  EXPECT_EQ(input.bonds.kinds.size(0), 3);
  EXPECT_EQ(input.features.columns(), 119);
  EXPECT_EQ(numbers(input.features.dense().argmax(1)), numbers(input.atoms.dense().select(1, 0)));
  EXPECT_EQ(input.features.dense().sum().item<double>(), 9);
  EXPECT_TRUE(same_bits(input.distances, edge_distances(input.graph, input.positions, torch::kFloat32, {})));
  EXPECT_GT(input.distances.min().item<double>(), 0);
}

TEST(MoleculeBatch, AMoleculeIsTheSameInAnyBatch) {
  const GraphSet set = test::random_molecules(20);
  const auto molecules = prepare(set, test::small_molecule_settings());
  const std::vector<int32_t> some = {17, 3, 3, 11};  // one of them twice
  const GraphInput batch = molecules->batch(some);
  int64_t edge = 0;
  for (size_t m = 0; m < some.size(); ++m) {
    const GraphInput alone = molecules->batch(std::span(some).subspan(m, 1));
    const int64_t node = batch.graph_offsets[m], nodes = alone.num_nodes(), edges = alone.graph.num_edges();
    EXPECT_EQ(batch.graph_offsets[m + 1] - node, nodes);
    EXPECT_TRUE(same_bits(batch.positions.slice(0, node, node + nodes), alone.positions));
    EXPECT_TRUE(same_bits(batch.distances.slice(0, edge, edge + edges), alone.distances));
    EXPECT_TRUE(same_bits(batch.graph.sources.slice(0, edge, edge + edges) - node, alone.graph.sources));
    EXPECT_TRUE(same_bits(batch.atoms.dense().slice(0, node, node + nodes), alone.atoms.dense()));
    EXPECT_TRUE(same_bits(batch.bonds.dense().slice(0, edge, edge + edges), alone.bonds.dense()));
    edge += edges;
  }
  EXPECT_EQ(edge, batch.graph.num_edges());
}

TEST(MoleculeBatch, WithoutBondsOrPositions) {
  Settings settings = test::small_molecule_settings();
  const std::vector<int32_t> lone = {1, 3};
  const GraphInput no_bonds = prepare(odd_set(), settings)->batch(lone);
  EXPECT_EQ(no_bonds.graph.num_edges(), 0);
  EXPECT_EQ(no_bonds.bonds.dense().sizes(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(no_bonds.positions.sizes(), (std::vector<int64_t>{3, 4}));
  settings.use_positions = false;
  const GraphInput plain = prepare(odd_set(), settings)->batch(lone);
  EXPECT_FALSE(plain.positions.defined());
  EXPECT_FALSE(plain.distances.defined());
}

TEST(MoleculeBatch, BadMoleculesAreNamed) {
  const Settings settings = test::small_molecule_settings();
  const auto make = [&](const GraphSetParts& parts) { prepare(GraphSet(parts), settings); };
  const GraphSetParts good = molecule_parts(test::odd_molecules());
  GraphSetParts parts = good;
  parts.node_codes.values[2 * 8] = 119;  // 119 is the mask token
  EXPECT_DATA_ERROR(make(parts), "molecule 2: atom 1 has code 119 in column 0, expected 0..118");
  parts = good;
  parts.edge_codes.values.back() = -1;
  EXPECT_DATA_ERROR(make(parts), "molecule 5: bond 2 has code -1 in column 1, expected 0..");
  parts = good;
  parts.edges.back() = {1, 0};
  EXPECT_DATA_ERROR(make(parts), "molecule 5: the bond of atoms 0 and 1 is listed twice");
  parts.edges.back() = {2, 2};
  EXPECT_DATA_ERROR(make(parts), "molecule 5: a bond joins atom 2 to itself");
  parts = good;
  parts.node_codes.columns = 1;
  parts.node_codes.values.resize(parts.node_codes.values.size() / 2);
  EXPECT_DATA_ERROR(make(parts), "atoms have 1 codes and bonds 2; expected 9 and 3 (featurizer ogb)");
  GraphSetParts texts;
  texts.num_graphs = 1;
  texts.texts.push_back("C");
  EXPECT_DATA_ERROR(make(texts), "no structure");
  EXPECT_DATA_ERROR(make(molecule_parts({{{}, {}}, {{}, {}}})), "none of the molecules has atoms");
}

TEST(Pooling, ByHand) {
  const torch::Tensor nodes = torch::tensor({{1.0f, -2.0f}, {3.0f, -4.0f}, {0.5f, 8.0f}});
  const std::vector<int64_t> offsets = {0, 2, 2, 3};
  const auto row = [&](Pooling pooling, int64_t g) {
    const torch::Tensor pooled = pool(nodes, offsets, pooling);
    EXPECT_EQ(pooled.sizes(), (std::vector<int64_t>{3, 2}));
    return std::pair(pooled[g][0].item<float>(), pooled[g][1].item<float>());
  };
  EXPECT_EQ(row(Pooling::sum, 0), std::pair(4.0f, -6.0f));
  EXPECT_EQ(row(Pooling::mean, 0), std::pair(2.0f, -3.0f));
  EXPECT_EQ(row(Pooling::max, 0), std::pair(3.0f, -2.0f));
  for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
    EXPECT_EQ(row(pooling, 2), std::pair(0.5f, 8.0f));
    EXPECT_TRUE(std::isnan(row(pooling, 1).first));
    EXPECT_EQ(pool(nodes.slice(0, 0, 0), std::vector<int64_t>{0, 0}, pooling).size(0), 1);
  }
}

TEST(Pooling, Gradients) {
  const std::vector<int64_t> offsets = {0, 3, 4, 9};
  const torch::Tensor weights = torch::randn({3, 5}, torch::kFloat64);
  for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
    torch::Tensor nodes = torch::randn({9, 5}, torch::kFloat64).requires_grad_(true);
    (pool(nodes, offsets, pooling) * weights).sum().backward();
    const torch::NoGradGuard no_grad;
    constexpr double kStep = 1e-6;
    for (int64_t i = 0; i < nodes.numel(); ++i) {
      torch::Tensor up = nodes.detach().clone(), down = nodes.detach().clone();
      up.view(-1)[i] += kStep;
      down.view(-1)[i] -= kStep;
      const double slope = ((pool(up, offsets, pooling) - pool(down, offsets, pooling)) * weights).sum().item<double>();
      ASSERT_NEAR(nodes.grad().view(-1)[i].item<double>(), slope / (2 * kStep), 1e-7);
    }
  }
}

}  // namespace
}  // namespace graphpae
