// Two routes to the same layer: sums after the projection, and before it at some nodes only.
#include "graphpae/ops/attention_ops.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "graphpae/ops/dense_ops.h"
#include "tests/support/small_graph.h"

namespace graphpae {
namespace {

using torch::Tensor;

TEST(AttendTargets, AgreesWithTheWholeLayer) {
  const Graph graph = test::small_graph(70, 3);
  const auto edges = std::make_shared<const EdgeIndex>(graph.adjacency(), true);
  struct Shape {
    int64_t in, heads, columns;
    double dropout;
    bool positions;
  };
  for (const Shape& shape :
       {Shape{20, 4, 6, 0, true}, {33, 1, 17, 0.3, true}, {16, 8, 8, 0, false}, {5, 6, 3, 0.5, true}}) {
    const int64_t d = shape.heads * shape.columns;
    const std::vector<int32_t> targets = {69, 0, 3, 17, 40, 41};  // an isolated node and a hub among them
    const kernels::Dropout dropout{static_cast<float>(shape.dropout), 77};
    std::vector<std::vector<Tensor>> gradients;
    std::vector<Tensor> outputs;
    for (const bool before : {false, true}) {
      for (const int threads : {1, 2, 8}) {
        Initialiser init(4);
        std::vector<Tensor> leaves = {init.normal({70, shape.in}, 1),
                                      init.normal({shape.in, d}, 0.5),
                                      init.normal({shape.heads, shape.columns}, 0.5),
                                      init.normal({shape.heads, shape.columns}, 0.5),
                                      init.normal({edges->num_edges(), shape.heads}, 1),
                                      init.normal({d}, 1)};
        for (Tensor& leaf : leaves) leaf.requires_grad_(true);
        const Tensor positions = shape.positions ? leaves[4] : Tensor();
        Tensor rows, refined;
        if (before) {
          std::tie(rows, refined) = ops::attend_targets(edges, targets, leaves[0], leaves[1], leaves[2], leaves[3],
                                                        positions, leaves[5], 0.2, dropout, {threads});
        } else {
          const auto workspace = std::make_shared<kernels::Workspace>();
          const Tensor z = ops::linear(leaves[0], leaves[1], {}, {threads});
          const auto all =
              ops::attend(edges, z, leaves[2], leaves[3], positions, leaves[5], 0.2, dropout, workspace, {threads});
          rows = ops::gather_rows(all.first, targets, {threads});
          std::vector<int32_t> into_targets;
          for (const int32_t target : targets) {
            for (int64_t e = edges->offsets()[target]; e < edges->offsets()[target + 1]; ++e)
              into_targets.push_back(static_cast<int32_t>(e));
          }
          refined = ops::gather_rows(all.second, into_targets, {threads});
        }
        EXPECT_GT(refined.size(0), 0);
        ((rows * Initialiser(9).normal(rows.sizes(), 1)).sum() +
         (refined * Initialiser(8).normal(refined.sizes(), 1)).sum())
            .backward();
        std::vector<Tensor> found;
        for (const Tensor& leaf : leaves) found.push_back(leaf.grad());
        if (threads > 1) {  // the same bits as with one
          EXPECT_TRUE(test::same_bits(rows, outputs.back()));
          for (size_t k = 0; k < found.size(); ++k) {
            if (found[k].defined()) {
              EXPECT_TRUE(test::same_bits(found[k], gradients.back()[k])) << k;
            }
          }
          continue;
        }
        outputs.push_back(rows);
        gradients.push_back(found);
      }
    }
    EXPECT_LT(test::largest_difference(outputs[0], outputs[1]), 1e-5 * outputs[0].abs().max().item<double>());
    for (size_t k = 0; k < gradients[0].size(); ++k) {
      ASSERT_EQ(gradients[0][k].defined(), gradients[1][k].defined()) << k;
      if (!gradients[0][k].defined()) continue;
      EXPECT_LT(test::largest_difference(gradients[0][k], gradients[1][k]),
                3e-5 * gradients[0][k].abs().max().item<double>())
          << k;
    }
  }
}

TEST(AttendTargets, PaysWhereFewNodesAreWanted) {
  const EdgeIndex edges(test::small_graph(200, 3).adjacency(), true);
  const std::vector<int32_t> one = {5};
  std::vector<int32_t> all(200);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_TRUE(ops::attend_targets_pays(edges, one, 1024, 1024, 4));
  EXPECT_FALSE(ops::attend_targets_pays(edges, all, 1024, 1024, 64));
}

}  // namespace
}  // namespace graphpae
