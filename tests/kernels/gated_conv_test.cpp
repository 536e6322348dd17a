#include "graphpae/kernels/gated_conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/support/kernel_checks.h"

namespace graphpae::kernels {
namespace {

using test::check;
using test::expect_close;
using test::random_floats;

// Three molecules: a ring of four with a tail, a lone atom, two fragments of which one is an atom.
struct Molecules {
  std::vector<int64_t> blocks = {0, 5, 6, 9};
  EdgeIndex edges;
  std::vector<float> scale = {0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 1.0f, 0.3f, 0.2f, 0.9f};

  Molecules() {
    std::vector<int32_t> from, to;
    for (const auto& [a, b] : {std::pair{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}, {6, 7}}) {
      from.insert(from.end(), {a, b});
      to.insert(to.end(), {b, a});
    }
    edges = EdgeIndex::from_list(from, to, 9);
  }
};

// One problem: rows that are shared, gradients that come in.
struct Problem {
  const Molecules molecules;
  int64_t n = 9, e, d;
  Dropout dropout;
  std::vector<int32_t> node_rows, edge_rows, position_rows;
  std::vector<float> node_terms, edge_terms, positions, d_nodes, d_hat, d_refined;

  Problem(int64_t width, bool shared, const Dropout& position_dropout)
      : e(molecules.edges.num_edges()), d(width), dropout(position_dropout) {
    for (int64_t i = 0; i < n; ++i) node_rows.push_back(static_cast<int32_t>(shared ? i % 3 : i));
    for (int64_t k = 0; k < e; ++k) {
      edge_rows.push_back(static_cast<int32_t>(shared ? k % 2 : k));
      position_rows.push_back(shared ? molecules.edges.pair_of_edge()[k] : static_cast<int32_t>(k));
    }
    node_terms = random_floats(n * 4 * d, 1);
    edge_terms = random_floats(e * d, 2);
    positions = random_floats(e * d, 3);
    d_nodes = random_floats(n * d, 4);
    d_hat = random_floats(e * d, 5);
    d_refined = random_floats(e * d, 6);
  }

  GatedGraph graph() const { return {molecules.edges, molecules.blocks, molecules.scale.data(), d}; }
  GatedTerms terms() const {
    return {{node_terms.data(), 4 * d, node_rows.data()},
            {edge_terms.data(), d, edge_rows.data()},
            {positions.data(), d, position_rows.data()}};
  }

  struct Output {
    std::vector<double> nodes, hat, refined;
  };
  // The equations of the header, for terms given as numbers.
  Output plain(const std::vector<double>& node, const std::vector<double>& edge, const std::vector<double>& p) const {
    Output out;
    out.hat.resize(static_cast<size_t>(e * d));
    out.refined.resize(static_cast<size_t>(e * d));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < d; ++j) {
        double sum = 0, total = 1e-6;
        for (int64_t k = molecules.edges.offsets()[i]; k < molecules.edges.offsets()[i + 1]; ++k) {
          const int64_t source = molecules.edges.sources()[k];
          const double hat = node[node_rows[i] * 4 * d + 2 * d + j] + node[node_rows[source] * 4 * d + 3 * d + j] +
                             edge[edge_rows[k] * d + j];
          const double refined = hat + p[position_rows[k] * d + j], gate = 1 / (1 + std::exp(-refined));
          sum += gate * node[node_rows[source] * 4 * d + d + j];
          total += gate;
          out.hat[k * d + j] = hat;
          const bool kept = keeps(dropout, dropout_row_hash(dropout, k), static_cast<uint32_t>(j));
          out.refined[k * d + j] = !dropout.active() ? refined : kept ? refined * dropout.scale() : 0;
        }
        out.nodes.push_back(molecules.scale[i] * (node[node_rows[i] * 4 * d + j] + sum / total));
      }
    }
    return out;
  }
};

std::vector<double> doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

const Dropout kDropouts[] = {{}, {0.5f, 123}};

TEST(GatedConv, Forward) {
  for (const int64_t d : {1, 4, 19, 300}) {
    for (const bool shared : {false, true}) {
      for (const Dropout& dropout : kDropouts) {
        const Problem p(d, shared, dropout);
        const auto out = p.plain(doubles(p.node_terms), doubles(p.edge_terms), doubles(p.positions));
        std::vector<double> expected = out.nodes;
        expected.insert(expected.end(), out.hat.begin(), out.hat.end());
        expected.insert(expected.end(), out.refined.begin(), out.refined.end());
        check(expected, 2e-6, [&](Threads threads) {
          std::vector<float> gates(static_cast<size_t>(p.e * d)), found(expected.size());
          gated_conv(p.graph(), p.terms(), dropout, gates.data(), found.data(), found.data() + p.n * d,
                     found.data() + (p.n + p.e) * d, threads);
          return found;
        });
      }
    }
  }
}

// The gradient of <gradients that come in, outputs>, by differences of the plain form.
TEST(GatedConv, BackwardIsTheDerivative) {
  const int64_t d = 5;
  for (const bool shared : {false, true}) {
    for (const Dropout& dropout : kDropouts) {
      for (const bool with_nodes : {true, false}) {
        SCOPED_TRACE(testing::Message() << shared << dropout.active() << with_nodes);
        const Problem p(d, shared, dropout);
        const auto value = [&](const std::vector<double>& node, const std::vector<double>& edge,
                               const std::vector<double>& position) {
          const auto out = p.plain(node, edge, position);
          double sum = 0;
          for (size_t k = 0; k < out.nodes.size() && with_nodes; ++k) sum += out.nodes[k] * p.d_nodes[k];
          for (size_t k = 0; k < out.hat.size(); ++k) sum += out.hat[k] * p.d_hat[k] + out.refined[k] * p.d_refined[k];
          return sum;
        };
        std::vector<double> terms[3] = {doubles(p.node_terms), doubles(p.edge_terms), doubles(p.positions)};
        std::vector<double> expected[3];
        for (int which = 0; which < 3; ++which) {
          for (double& entry : terms[which]) {
            const double kept = entry, step = 1e-5;
            entry = kept + step;
            const double above = value(terms[0], terms[1], terms[2]);
            entry = kept - step;
            expected[which].push_back((above - value(terms[0], terms[1], terms[2])) / (2 * step));
            entry = kept;
          }
        }
        std::vector<float> gates(static_cast<size_t>(p.e * d)), nodes(static_cast<size_t>(p.n * d));
        gated_conv(p.graph(), p.terms(), dropout, gates.data(), nodes.data(), nullptr, nullptr, {1});
        const GatedSaved saved{
            {p.node_terms.data() + d, 4 * d, p.node_rows.data()}, gates.data(), p.position_rows.data()};
        const int64_t stride = with_nodes ? 4 * d : 2 * d;
        const auto run = [&](Threads threads) {
          std::vector<float> d_node(static_cast<size_t>(p.n * stride)), d_edge(static_cast<size_t>(p.e * d)),
              d_position(static_cast<size_t>(p.e * d), 0.0f);
          gated_conv_backward(p.graph(), saved, dropout, with_nodes ? p.d_nodes.data() : nullptr, p.d_hat.data(),
                              p.d_refined.data(), d_node.data(), d_edge.data(), d_position.data(), threads);
          // Every node and edge has gradients of its own; those of shared rows are their sums.
          std::vector<float> node_sums(static_cast<size_t>(p.n * stride)), edge_sums(static_cast<size_t>(p.e * d));
          sum_shared_rows(d_node.data(), p.node_rows.data(), p.n, stride, node_sums.data(), p.n, threads);
          sum_shared_rows(d_edge.data(), p.edge_rows.data(), p.e, d, edge_sums.data(), p.e, threads);
          std::vector<float> all(static_cast<size_t>(p.n * 4 * d), 0.0f);
          for (int64_t i = 0; i < p.n; ++i)
            std::copy_n(node_sums.data() + i * stride, stride, all.data() + (i + 1) * 4 * d - stride);
          all.insert(all.end(), edge_sums.begin(), edge_sums.end());
          all.insert(all.end(), d_position.begin(), d_position.end());
          return all;
        };
        std::vector<double> together = expected[0];
        together.insert(together.end(), expected[1].begin(), expected[1].end());
        together.insert(together.end(), expected[2].begin(), expected[2].end());
        check(together, 1e-5, run);
      }
    }
  }
}

}  // namespace
}  // namespace graphpae::kernels
