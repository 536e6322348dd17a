// What holds for every method of the registry.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>

#include "graphpae/methods/method.h"
#include "graphpae/settings/method_names.h"
#include "graphpae/settings/recipes.h"
#include "graphpae/train/pretrain.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

class AllMethods : public testing::TestWithParam<std::string> {
 protected:
  Settings settings() const {
    Settings settings = test::small_settings();
    settings.method = GetParam();
    settings.dropout = 0.1;
    settings.edge_dropout = 0.1;
    return settings;
  }
};

// Everything that training leaves behind.
std::vector<torch::Tensor> state_of(Pretrainer& trainer) {
  std::vector<torch::Tensor> tensors;
  for (const torch::Tensor& tensor : trainer.method().parameters()) tensors.push_back(tensor.detach().clone());
  for (const torch::Tensor& tensor : trainer.method().buffers()) tensors.push_back(tensor.detach().clone());
  return tensors;
}

void expect_same(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k) EXPECT_TRUE(test::same_bits(a[k], b[k])) << k;
}

TEST_P(AllMethods, LearnsToTheSameBitsWithAnyNumberOfThreadsAndResumed) {
  const Graph graph = test::small_graph(60, 15);
  const auto trainer_with = [&](int threads) {
    InputOptions options;
    options.threads = Threads{threads};
    return std::make_unique<Pretrainer>(prepare(graph, settings(), options), input_shape(graph), settings());
  };
  const auto one = trainer_with(1), three = trainer_with(3);
  const std::vector<torch::Tensor> start = state_of(*one);
  const EpochMetrics first = one->train_epoch();
  three->train_epoch();
  const std::vector<std::string> terms = one->method().terms();
  ASSERT_EQ(first.terms.size(), terms.size());
  EXPECT_EQ(terms.front(), "loss");
  for (const std::string& term : terms) EXPECT_TRUE(term.starts_with("loss")) << term;
  EXPECT_TRUE(std::isfinite(first.loss()));
  EXPECT_FALSE(test::same_bits(state_of(*one).front(), start.front()) &&
               test::same_bits(state_of(*one).back(), start.back()));

  const test::TempDir dir;
  one->save(dir / "checkpoint", "data");
  while (!one->done()) one->train_epoch();
  while (!three->done()) three->train_epoch();
  expect_same(state_of(*one), state_of(*three));

  const auto resumed = trainer_with(2);
  resumed->restore(dir / "checkpoint", "data");
  EXPECT_EQ(resumed->epoch(), 1);
  while (!resumed->done()) resumed->train_epoch();
  expect_same(state_of(*one), state_of(*resumed));
}

TEST_P(AllMethods, LearnsFromMoleculesIfItSaysSo) {
  Settings wanted = settings();
  wanted.encoder = EncoderKind::gated_gcn;
  wanted.batch_size = 7;
  wanted.epochs = 3;
  if (!find_method(GetParam()).molecules) {
    EXPECT_THROW(check(wanted), Error);
    return;
  }
  const GraphSet molecules = test::random_molecules(20);
  const auto train = [&](int threads) {
    InputOptions options;
    options.threads = Threads{threads};
    Pretrainer trainer(prepare(molecules, wanted, options), input_shape(molecules), wanted);
    double loss = 0;
    while (!trainer.done()) loss = trainer.train_epoch().loss();
    EXPECT_TRUE(std::isfinite(loss));
    return state_of(trainer);
  };
  expect_same(train(1), train(3));
}

// A model holds the encoder and nothing of the method.
TEST_P(AllMethods, LeavesAModel) {
  const Graph graph = test::small_graph(30, 8);
  const auto method = make_method(settings(), input_shape(graph));
  const GraphInput input = make_input(graph, settings());
  const torch::Tensor rows = method->model()->embed(input);
  EXPECT_EQ(rows.sizes().vec(), (std::vector<int64_t>{30, settings().width}));
  EXPECT_TRUE(test::same_bits(rows, Model(settings(), input_shape(graph)).embed(input)));
  for (const auto& item : method->model()->named_parameters()) EXPECT_TRUE(item.key().starts_with("encoder."));
}

TEST_P(AllMethods, HasACitationAPageAndATest) {
  const fs::path root = GRAPHPAE_SOURCE_DIR;
  EXPECT_FALSE(find_method(GetParam()).title.empty());
  EXPECT_FALSE(find_method(GetParam()).citation.empty());
  EXPECT_TRUE(fs::exists(root / "docs/methods" / (GetParam() + ".md")));
  const std::string stem = GetParam() == "graphpae" ? "graph_pae" : GetParam();
  EXPECT_TRUE(fs::exists(root / "tests/methods" / (stem + "_test.cpp")));
}

INSTANTIATE_TEST_SUITE_P(, AllMethods, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const MethodName& method : method_names()) names.push_back(method.name);
                           return names;
                         }()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Methods, UnknownNamesSuggestTheNearest) {
  try {
    find_method("graphmea");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_NE(std::string(error.what()).find("graphmae"), std::string::npos);
  }
}

TEST(Methods, EveryRecipeNamesAMethodThatExists) {
  for (const Recipe& recipe : recipes())
    EXPECT_NO_THROW(find_method(recipe_settings(recipe.name).method)) << recipe.name;
}

}  // namespace
}  // namespace graphpae
