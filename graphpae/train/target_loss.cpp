#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "graphpae/train/objective.h"

namespace graphpae {
namespace {

struct Term {
  double value, slope;
};

Term term(double output, double label, TargetLoss loss) {
  const double error = output - label;
  switch (loss) {
    case TargetLoss::l1: return {std::abs(error), error > 0 ? 1.0 : error < 0 ? -1.0 : 0.0};
    case TargetLoss::bce:
      // log(1 + exp(o)) - y o, without overflow.
      return {std::max(output, 0.0) + std::log1p(std::exp(-std::abs(output))) - label * output,
              1 / (1 + std::exp(-output)) - label};
    default: return {error * error, 2 * error};
  }
}

}  // namespace

LossAndGradient target_loss(const torch::Tensor& outputs, std::span<const float> labels, TargetLoss loss) {
  TORCH_INTERNAL_ASSERT(outputs.numel() == static_cast<int64_t>(labels.size()));
  const auto count = std::count_if(labels.begin(), labels.end(), [](float label) { return !std::isnan(label); });
  if (count == 0) return {};
  const torch::Tensor found = outputs.detach().contiguous();
  LossAndGradient result{0, torch::zeros_like(found)};
  const float* output = found.data_ptr<float>();
  float* slope = result.gradient.data_ptr<float>();
  for (size_t k = 0; k < labels.size(); ++k) {
    if (std::isnan(labels[k])) continue;
    const Term t = term(output[k], labels[k], loss);
    result.loss += t.value;
    slope[k] = static_cast<float>(t.slope / static_cast<double>(count));
  }
  result.loss /= static_cast<double>(count);
  return result;
}

LossAndGradient class_loss(const torch::Tensor& outputs, std::span<const int32_t> classes) {
  const int64_t rows = outputs.size(0), width = outputs.size(1);
  TORCH_INTERNAL_ASSERT(rows == static_cast<int64_t>(classes.size()));
  if (rows == 0) return {};
  const torch::Tensor found = outputs.detach().contiguous();
  LossAndGradient result{0, torch::empty_like(found)};
  const float* output = found.data_ptr<float>();
  float* slope = result.gradient.data_ptr<float>();
  std::vector<double> share(static_cast<size_t>(width));
  for (int64_t r = 0; r < rows; ++r, output += width, slope += width) {
    const double top = *std::max_element(output, output + width);
    double sum = 0;
    for (int64_t c = 0; c < width; ++c) sum += share[c] = std::exp(output[c] - top);
    result.loss += std::log(sum) + top - output[classes[r]];
    for (int64_t c = 0; c < width; ++c)
      slope[c] = static_cast<float>((share[c] / sum - (c == classes[r] ? 1 : 0)) / static_cast<double>(rows));
  }
  result.loss /= static_cast<double>(rows);
  return result;
}

}  // namespace graphpae
