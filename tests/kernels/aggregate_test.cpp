#include "graphpae/kernels/aggregate.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/support/kernel_checks.h"
#include "tests/support/kernel_inputs.h"

namespace graphpae::kernels {
namespace {

using test::for_each_target;
using test::hub_graph;
using test::random_values;
using Values = std::vector<float>;

struct Case {
  EdgeIndex edges;
  int64_t heads, columns;
  Values weights, x, bias, d_out;

  Case(EdgeIndex index, int64_t h, int64_t c) : edges(std::move(index)), heads(h), columns(c) {
    weights = random_values(edges.num_edges() * h, 1);
    x = random_values(edges.num_nodes() * h * c, 2);
    d_out = random_values(edges.num_nodes() * h * c, 3);
    bias = random_values(h * c, 4);
  }

  struct Results {
    Values out, d_x, d_weights;
  };
  Results run(Threads threads, AggregateBlocks blocks, bool with_bias = true) const {
    Results r{Values(x.size(), NAN), Values(x.size(), NAN), Values(weights.size(), NAN)};
    Workspace workspace;
    aggregate_forward(edges, heads, columns, weights.data(), x.data(), with_bias ? bias.data() : nullptr, r.out.data(),
                      workspace, threads, blocks);
    aggregate_backward(edges, heads, columns, weights.data(), x.data(), d_out.data(), r.d_x.data(), r.d_weights.data(),
                       workspace, threads, blocks);
    return r;
  }

  void expect_right(const Results& r, bool with_bias = true) const {
    const int64_t width = heads * columns;
    std::vector<double> out(x.size()), d_x(x.size()), d_weights(weights.size());
    for (size_t k = 0; with_bias && k < out.size(); ++k) out[k] = bias[k % width];
    for (int64_t e = 0; e < edges.num_edges(); ++e) {
      const int64_t j = edges.sources()[e], i = edges.targets()[e];
      for (int64_t k = 0; k < width; ++k) {
        const double w = weights[e * heads + k / columns];
        out[i * width + k] += w * x[j * width + k];
        d_x[j * width + k] += w * d_out[i * width + k];
        d_weights[e * heads + k / columns] += double{x[j * width + k]} * d_out[i * width + k];
      }
    }
    for (size_t k = 0; k < out.size(); ++k) {
      ASSERT_NEAR(r.out[k], out[k], 1e-4) << heads << " x " << columns << " at " << k;
      ASSERT_NEAR(r.d_x[k], d_x[k], 1e-4) << heads << " x " << columns << " at " << k;
    }
    for (size_t k = 0; k < d_weights.size(); ++k)
      ASSERT_NEAR(r.d_weights[k], d_weights[k], 1e-4) << heads << " x " << columns << " at " << k;
  }
};

TEST(Aggregate, MatchesPlainLoopsForAnyShape) {
  for_each_target([] {
    for (const int64_t heads : {1, 3, 4, 8}) {
      for (int64_t columns = 1; columns <= 40; columns += heads == 4 ? 1 : 13) {
        const Case c(hub_graph(24, columns % 2 == 0), heads, columns);
        for (const int64_t group : {16, 32}) c.expect_right(c.run({2}, {16, group, true}, group == 16), group == 16);
      }
    }
  });
}

TEST(Aggregate, MatchesPlainLoopsForEveryWidthOfABlock) {
  for_each_target([] {
    for (const int64_t columns : {70, 256}) {
      const Case c(hub_graph(30, true), 4, columns);
      for (const int64_t width : {16, 32}) {
        for (const bool packed : {true, false}) c.expect_right(c.run({2}, {width, 64, packed}));
      }
    }
  });
}

TEST(Aggregate, AnyNumberOfThreadsGivesTheSameBits) {
  for (const int64_t heads : {1, 3, 4, 8}) {
    for (const int64_t columns : {5, 64, 100}) {
      const Case c(hub_graph(200, true), heads, columns);
      for (const bool packed : {true, false}) {
        const auto one = c.run({1}, {16, 64, packed});
        for (const int count : {2, 8}) {
          const auto many = c.run({count}, {16, 64, packed});
          EXPECT_EQ(std::memcmp(one.out.data(), many.out.data(), one.out.size() * 4), 0);
          EXPECT_EQ(std::memcmp(one.d_x.data(), many.d_x.data(), one.d_x.size() * 4), 0);
          EXPECT_EQ(std::memcmp(one.d_weights.data(), many.d_weights.data(), one.d_weights.size() * 4), 0);
        }
      }
    }
  }
}

TEST(Aggregate, NodesWithoutEdgesGetTheBias) {
  for (const int64_t nodes : {0, 5}) {
    const Case c(EdgeIndex(Adjacency::from_edges(std::vector<Edge>(), nodes), false), 4, 20);
    const auto r = c.run({2}, choose_blocks(nodes, 20));
    for (size_t k = 0; k < r.out.size(); ++k) EXPECT_EQ(r.out[k], c.bias[k % c.bias.size()]);
    EXPECT_EQ(r.d_x, Values(c.x.size(), 0.0f));
  }
}

TEST(Aggregate, AWorkspaceServesOtherShapes) {
  Workspace workspace;
  for (const int64_t columns : {40, 8, 90}) {
    const Case c(hub_graph(columns, true), 3, columns);
    Case::Results r{c.x, c.x, c.weights};
    aggregate_forward(c.edges, 3, columns, c.weights.data(), c.x.data(), c.bias.data(), r.out.data(), workspace, {2});
    aggregate_backward(c.edges, 3, columns, c.weights.data(), c.x.data(), c.d_out.data(), r.d_x.data(),
                       r.d_weights.data(), workspace, {2});
    c.expect_right(r);
  }
}

TEST(Aggregate, BlocksSuitTheShape) {
  EXPECT_EQ(choose_blocks(100, 256).width, 32);
  EXPECT_EQ(choose_blocks(100, 10).width, 16);
  EXPECT_EQ(choose_blocks(100000, 256).group, 32);
  EXPECT_TRUE(choose_blocks(100000, 256).packed);
  EXPECT_FALSE(choose_blocks(int64_t{1} << 20, 256).packed);
}

TEST(DropEdgeWeights, DecidesAsDropoutDoes) {
  for_each_target([] {
    const Dropout dropout{0.4f, 0x123456789abcdefull};
    for (const int64_t heads : {1, 3, 4, 8}) {
      const int64_t edges = 1001;
      const Values alpha = random_values(edges * heads, 5);
      Values weights(alpha.size()), in_place = alpha;
      drop_edge_weights(dropout, edges, heads, alpha.data(), weights.data(), {2});
      drop_edge_weights(dropout, edges, heads, in_place.data(), in_place.data(), {1});
      EXPECT_EQ(weights, in_place);
      int64_t kept = 0;
      for (int64_t e = 0; e < edges; ++e) {
        const uint32_t row = dropout_row_hash(dropout, e);
        for (int64_t h = 0; h < heads; ++h) {
          const bool keep = keeps(dropout, row, static_cast<uint32_t>(h));
          kept += keep;
          ASSERT_EQ(weights[e * heads + h], keep ? alpha[e * heads + h] * dropout.scale() : 0.0f);
        }
      }
      EXPECT_NEAR(static_cast<double>(kept) / (edges * heads), 0.6, 0.05);
    }
  });
}

TEST(DropEdgeWeights, WithoutDropoutCopies) {
  const Values alpha = random_values(40, 5);
  Values weights(40);
  drop_edge_weights({}, 10, 4, alpha.data(), weights.data(), {2});
  EXPECT_EQ(weights, alpha);
}

}  // namespace
}  // namespace graphpae::kernels
