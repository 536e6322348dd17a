#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "graphpae/train/objective.h"

namespace graphpae {
namespace {

// Value and gradient against LibTorch's own losses of the labels that are present.
void expect_equal(const torch::Tensor& outputs, const torch::Tensor& labels, TargetLoss kind,
                  const std::function<torch::Tensor(torch::Tensor, torch::Tensor)>& plain) {
  const torch::Tensor x = outputs.to(torch::kFloat64).clone().requires_grad_(true);
  const torch::Tensor present = labels.isnan().logical_not();
  const torch::Tensor expected = plain(x.masked_select(present), labels.to(torch::kFloat64).masked_select(present));
  expected.backward();
  const LossAndGradient found =
      target_loss(outputs, {labels.data_ptr<float>(), static_cast<size_t>(labels.numel())}, kind);
  EXPECT_GT(found.loss, 0.1);
  EXPECT_NEAR(found.loss, expected.item<double>(), 1e-12);
  EXPECT_LT((found.gradient.to(torch::kFloat64) - x.grad()).abs().max().item<double>(), 1e-7);
}

TEST(TargetLoss, EqualsThePlainOnes) {
  const float nan = std::nanf("");
  const torch::Tensor outputs = torch::tensor({{0.5f, -2.0f, 40.0f}, {1.5f, -60.0f, 0.0f}}),
                      numbers = torch::tensor({{1.5f, nan, 39.0f}, {-2.0f, -61.5f, nan}}),
                      classes = torch::tensor({{1.0f, nan, 0.0f}, {0.0f, 1.0f, nan}});
  expect_equal(outputs, numbers, TargetLoss::l1, [](auto x, auto y) { return torch::l1_loss(x, y); });
  expect_equal(outputs, numbers, TargetLoss::l2, [](auto x, auto y) { return torch::mse_loss(x, y); });
  expect_equal(outputs, classes, TargetLoss::bce,
               [](auto x, auto y) { return torch::binary_cross_entropy_with_logits(x, y); });
}

TEST(TargetLoss, NothingWithoutLabels) {
  const std::vector<float> labels(2, std::nanf(""));
  EXPECT_FALSE(target_loss(torch::ones({1, 2}), labels, TargetLoss::l1).gradient.defined());
}

TEST(TargetLoss, OfClasses) {
  const torch::Tensor outputs = torch::tensor({{0.5f, -2.0f, 90.0f}, {1.5f, -60.0f, 0.0f}});
  const std::vector<int32_t> classes = {0, 2};
  const torch::Tensor x = outputs.to(torch::kFloat64).requires_grad_(true);
  const torch::Tensor expected = torch::nll_loss(torch::log_softmax(x, 1), torch::tensor({0, 2}, torch::kInt64));
  expected.backward();
  const LossAndGradient found = class_loss(outputs, classes);
  EXPECT_NEAR(found.loss, expected.item<double>(), 1e-12);
  EXPECT_LT((found.gradient.to(torch::kFloat64) - x.grad()).abs().max().item<double>(), 1e-7);
}

}  // namespace
}  // namespace graphpae
