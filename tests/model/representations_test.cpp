// What probes are given, and the probe against its plain LibTorch form.
#include "graphpae/model/representations.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <numeric>

#include "graphpae/core/rng.h"
#include "graphpae/evaluate/protocols.h"
#include "graphpae/train/pretrain.h"
#include "tests/support/small_graph.h"

namespace graphpae {
namespace {

// The same training with LibTorch's own linear layer, loss and optimiser.
TEST(ProbeReference, AdamProbeFollowsLibTorch) {
  constexpr int64_t kRows = 120, kColumns = 20, kClasses = 4, kTrain = 70;
  const Rng rng(11);
  Buffer<float> values(static_cast<size_t>(kRows * kColumns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(rng.normal(i));
  std::vector<int32_t> order(kRows), labels(kTrain);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = 0; i < kTrain; ++i)
    labels[i] = static_cast<int32_t>(Rng(12).below(static_cast<uint64_t>(i), kClasses));
  const torch::Tensor x = torch::from_blob(values.data(), {kRows, kColumns}).clone();
  const torch::Tensor y = torch::tensor(std::vector<int64_t>(labels.begin(), labels.end()));
  ProbeProblem problem{{order.begin(), order.begin() + kTrain}, labels, 9};
  const ProbeOptions options{.lr = 1e-2, .weight_decay = 1e-2, .epochs = 300};

  torch::nn::Linear linear(kColumns, kClasses);
  {
    const torch::NoGradGuard guard;
    std::vector<float> start = initial_probe_weights(kColumns, kClasses, 9);
    linear->weight.copy_(torch::from_blob(start.data(), {kColumns, kClasses}).t());
    linear->bias.zero_();
    const double bound = std::sqrt(6.0 / (kColumns + kClasses));
    EXPECT_LE(linear->weight.abs().max().item<double>(), bound);
    EXPECT_GT(linear->weight.abs().max().item<double>(), 0.9 * bound);
  }
  torch::optim::Adam adam(linear->parameters(),
                          torch::optim::AdamOptions(options.lr).weight_decay(options.weight_decay));
  const Features rows = Features::dense(kRows, kColumns, std::move(values));
  int64_t different = 0;
  torch::Tensor last;
  train_probes(
      DesignMatrix(rows, order, Threads{}), kClasses, std::vector{problem}, options,
      [&](int64_t, std::span<const int32_t> predictions) {
        adam.zero_grad();
        torch::nn::functional::cross_entropy(linear(x.slice(0, 0, kTrain)), y).backward();
        adam.step();
        last = linear(x).argmax(1);
        for (int64_t i = 0; i < kRows; ++i) different += last[i].item<int64_t>() != predictions[i];
      },
      Threads{});
  // Logits agree to rounding, so only a tie could be decided differently: 36,000 decisions.
  EXPECT_LE(different, 3);
  EXPECT_GT(std::get<0>(torch::_unique(last)).numel(), 1);
}

class RepresentationsTest : public testing::Test {
 protected:
  RepresentationsTest() : graph(test::small_graph(30, 25)), settings(test::small_settings()) {
    settings.eigenvectors = 4;
    settings.epochs = 5;
  }
  Graph graph;
  Settings settings;
};

std::vector<float> values_of(const Features& rows) { return {rows.dense_values().begin(), rows.dense_values().end()}; }

TEST_F(RepresentationsTest, EmbeddingsAndUntrainedEncoder) {
  const auto model = pretrain(graph, settings);
  const PreparedGraph input = prepare(graph, settings);
  const Features trained = embedded_rows(*model, input), untrained = embedded_rows(*graphpae::untrained(*model), input);
  EXPECT_EQ(trained.rows(), graph.num_nodes());
  EXPECT_EQ(trained.columns(), settings.width);
  EXPECT_EQ(values_of(trained), values_of(features_of(embed(*model, graph))));
  EXPECT_NE(values_of(trained), values_of(untrained));
  Settings none = settings;
  none.epochs = 0;
  EXPECT_EQ(values_of(untrained), values_of(features_of(embed(*pretrain(graph, none), graph))));
}

TEST_F(RepresentationsTest, RawFeaturesAreWhatTheEncoderSees) {
  EXPECT_EQ(raw_feature_rows(graph, settings).nonzeros(), graph.features().nonzeros());
  settings.row_normalize = true;
  const Features rows = raw_feature_rows(graph, settings);
  double sum = 0;
  if (rows.is_sparse()) {
    for (const float value : rows.sparse_row(0).values) sum += value;
  } else {
    for (const float value : rows.dense_row(0)) sum += value;
  }
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST_F(RepresentationsTest, RawPositionsAlsoForAModelWithoutThem) {
  const Features with = raw_position_rows(graph, settings, prepare(graph, settings), {});
  EXPECT_EQ(with.columns(), 4);
  settings.use_positions = false;
  const Features without = raw_position_rows(graph, settings, prepare(graph, settings), {});
  EXPECT_EQ(values_of(with), values_of(without));
}

}  // namespace
}  // namespace graphpae
