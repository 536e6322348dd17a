#include "graphpae/methods/graphmae/graphmae.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <map>
#include <set>

#include "graphpae/core/error.h"
#include "graphpae/ops/tensors.h"
#include "graphpae/train/optimiser.h"
#include "tests/support/golden.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"

namespace graphpae {
namespace {

using graphmae::GatDecoder;
using graphmae::GinDecoder;

Settings graphmae_settings() {
  Settings settings = test::small_settings();
  settings.method = "graphmae";
  settings.use_positions = false;
  settings.activation = Activation::prelu;
  settings.output_activation = true;
  settings.mask_ratio = 0.5;
  settings.replace_ratio = 0.2;
  settings.gamma = 2;
  return settings;
}

double relative_difference(const torch::Tensor& found, const torch::Tensor& expected) {
  const torch::Tensor a = found.detach().to(torch::kFloat64).reshape({-1}),
                      b = expected.detach().to(torch::kFloat64).reshape({-1});
  EXPECT_EQ(a.numel(), b.numel());
  const double scale = b.abs().max().item<double>();
  EXPECT_GT(scale, 0);
  return (a - b).abs().max().item<double>() / scale;
}

TEST(GraphMaeMasking, ProductsAreTruncatedAndOneNodeMayStayAsItIs) {
  graphmae::Orders orders;
  for (int32_t i = 12; i >= 0; --i) orders.nodes.push_back(i);  // masked: 12 .. 7
  orders.masked = {1, 0, 2, 3, 4, 5};
  for (int32_t i = 0; i < 13; ++i) orders.donors.push_back((i + 3) % 13);
  const Masking masking = graphmae::mask_by_orders(orders, 0.5, 0.3);  // 6 masked, 4 tokens, 1 replaced
  EXPECT_EQ(masking.masked, (std::vector<int32_t>{12, 11, 10, 9, 8, 7}));
  for (const int32_t node : {12, 11, 10, 9}) EXPECT_EQ(masking.shown[node], kMaskToken) << node;
  EXPECT_EQ(masking.shown[8], 8);  // neither token nor replaced
  EXPECT_EQ(masking.shown[7], 3);  // the first donor
  for (int32_t node = 0; node < 7; ++node) EXPECT_EQ(masking.shown[node], node);
}

TEST(GraphMaeMasking, TooFewToReplaceAllShowTheToken) {
  const Masking masking = graphmae::draw_nodes(10, 0.5, 0.1, Rng(1));  // int(0.1 * 5) = 0
  ASSERT_EQ(masking.masked.size(), 5u);
  for (const int32_t node : masking.masked) EXPECT_EQ(masking.shown[node], kMaskToken);
}

TEST(GraphMaeMasking, EveryMoleculeHidesAnAtomWhereverItStandsInTheBatch) {
  const std::vector<int64_t> offsets = {0, 1, 5, 13, 13, 15};
  const Masking all = graphmae::draw_atoms(offsets, 0, 0.25, Rng(7));
  std::vector<int64_t> counts(5);
  for (const int32_t atom : all.masked) {
    for (size_t g = 0; g < 5; ++g) counts[g] += atom >= offsets[g] && atom < offsets[g + 1];
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{1, 2, 3, 0, 1}));
  // The last two molecules alone, as a second process has them.
  const std::vector<int64_t> part = {0, 0, 2};
  const Masking mine = graphmae::draw_atoms(part, 3, 0.25, Rng(7));
  ASSERT_EQ(mine.masked.size(), 1u);
  EXPECT_EQ(mine.masked[0], all.masked.back() - 13);
}

// The decoder as a GAT layer is usually written: project all rows, then attend.
TEST(GraphMae, DecoderIsAGatLayerWithOneHead) {
  const Graph graph = test::small_graph(20, 9);
  const Settings settings = graphmae_settings();
  GraphMae method(settings, input_shape(graph));
  method.to(torch::kFloat64);
  method.eval();
  auto& decoder = dynamic_cast<GatDecoder&>(*method.decoder);
  const GraphInput input = test::in_float64(graph, settings);
  const Masking masking = mask_nodes(20, {3, 0, 7, 19});
  const torch::Tensor nodes = torch::randn({20, settings.width}, torch::kFloat64);
  const torch::Tensor h = torch::mm(nodes, decoder.enter).index_fill(0, masking.masked_indices, 0);
  const torch::Tensor z = torch::mm(h, decoder.weight.t());  // [N,F]
  const torch::Tensor logits = torch::mv(z, decoder.attention_source).index_select(0, input.graph.sources) +
                               torch::mv(z, decoder.attention_target).index_select(0, input.graph.targets);
  const torch::Tensor shares = segment_softmax(torch::leaky_relu(logits, 0.2).unsqueeze(1), input.graph.targets, 20);
  const torch::Tensor sums =
      torch::zeros_like(z).index_add(0, input.graph.targets, shares * z.index_select(0, input.graph.sources)) +
      decoder.bias;
  const torch::Tensor predicted = decoder.predict({input, nodes, masking, settings, 0});
  EXPECT_LT(relative_difference(predicted, sums.index_select(0, masking.masked_indices)), 1e-12);
}

struct Learned {
  double loss;
  std::map<std::string, torch::Tensor> gradients;
};

Learned learn(const Settings& settings, const GraphInput& input, const InputShape& shape, torch::Dtype type) {
  GraphMae method(settings, shape);
  method.to(type);
  method.train();
  LearningStep step;
  step.number = 4;
  Learned learned{method.learn(input, step).at(0), {}};
  for (const auto& item : method.named_parameters()) {
    if (item.value().grad().defined()) learned.gradients[item.key()] = item.value().grad();
  }
  return learned;
}

void expect_alike(const Learned& fused, const Learned& plain, double tolerance) {
  EXPECT_NEAR(fused.loss, plain.loss, tolerance * std::abs(plain.loss));
  EXPECT_EQ(fused.gradients.size(), plain.gradients.size());
  for (const auto& [name, gradient] : plain.gradients) {
    if (gradient.abs().max().item<double>() == 0) continue;
    EXPECT_LT(relative_difference(fused.gradients.at(name), gradient), tolerance) << name;
  }
}

TEST(GraphMae, FusedStepAgreesWithPlainOne) {
  Settings settings = graphmae_settings();
  settings.dropout = 0.2;
  settings.edge_dropout = 0.1;
  const Graph graph = test::small_graph(40, 23);
  const Learned plain = learn(settings, test::in_float64(graph, settings), input_shape(graph), torch::kFloat64);
  EXPECT_GT(plain.gradients.at("encoder.mask_token").abs().max().item<double>(), 0);
  EXPECT_EQ(plain.gradients.size(), 16u);  // a token, two layers of four, two slopes, five of the decoder
  InputOptions options;
  options.threads = Threads{1};
  const Learned one = learn(settings, make_input(graph, settings, options), input_shape(graph), torch::kFloat32);
  expect_alike(one, plain, 2e-5);
  options.threads = Threads{3};
  const Learned three = learn(settings, make_input(graph, settings, options), input_shape(graph), torch::kFloat32);
  EXPECT_EQ(one.loss, three.loss);
  for (const auto& [name, gradient] : one.gradients)
    EXPECT_TRUE(test::same_bits(gradient, three.gradients.at(name))) << name;
}

TEST(GraphMae, PutsFeaturesBack) {
  Settings settings = graphmae_settings();
  settings.lr = 1e-2;
  const Graph graph = test::small_graph(30, 12);
  const GraphInput input = make_input(graph, settings);
  GraphMae method(settings, input_shape(graph));
  method.train();
  Optimiser optimiser(OptimizerKind::adam, 0, [&] {
    NamedTensors named;
    for (const auto& item : method.named_parameters()) named.emplace_back(item.key(), item.value());
    return named;
  }());
  const Masking masking = mask_nodes(30, {1, 4, 9, 16, 25});
  double first = 0, last = 0;
  for (int64_t k = 0; k < 300; ++k) {
    optimiser.clear_gradients();
    const torch::Tensor loss = method.loss(input, masking);
    loss.backward();
    optimiser.step(settings.lr);
    (k == 0 ? first : last) = loss.item<double>();
  }
  EXPECT_LT(last, first / 20);
}

TEST(GraphMae, RefusesSamples) {
  Settings settings = graphmae_settings();
  settings.batch_size = 8;
  try {
    GraphMae(settings, InputShape{5, {}, {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_NE(std::string(error.what()).find("batch_size=0"), std::string::npos);
  }
}

// Numbers of the released implementation, in the directory that GRAPHPAE_TEST_METHODS names.
class GraphMaeGolden : public testing::Test {
 protected:
  void SetUp() override {
    const char* directory = std::getenv("GRAPHPAE_TEST_METHODS");
    if (directory == nullptr) GTEST_SKIP() << "GRAPHPAE_TEST_METHODS names no directory";
    golden_ = std::make_unique<test::Golden>(std::string(directory) + "/graphmae.npz");
  }
  torch::Tensor at(const std::string& name) const { return golden_->tensor(name); }

  // One graph in float64.
  GraphInput graph() const {
    const torch::Tensor edges = at("edge_index_with_loops");
    GraphInput input;
    input.graph =
        MessageGraph(EdgeIndex::from_list(test::to_int32(edges[0]), test::to_int32(edges[1]), at("x").size(0)));
    input.features = NodeFeatures(at("x"));
    return input;
  }

  // Sets our parameters, one after the other, from theirs; transposed where the shape asks for it.
  static void set(torch::Tensor& ours, const torch::Tensor& theirs, bool transposed = false) {
    const torch::NoGradGuard no_grad;
    ours.copy_((transposed ? theirs.t() : theirs).reshape(ours.sizes()));
  }
  void set_decoder(GatDecoder& decoder, const std::string& form) const {
    set(decoder.enter, at(form + ".param.encoder_to_decoder.weight"), true);
    set(decoder.weight, at(form + ".param.decoder.fc.weight"));
    set(decoder.attention_source, at(form + ".param.decoder.attn_l"));
    set(decoder.attention_target, at(form + ".param.decoder.attn_r"));
    set(decoder.bias, at(form + ".param.decoder.bias"));
  }
  void expect_decoder_gradients(GatDecoder& decoder, const std::string& form) const {
    const auto expect = [&](const torch::Tensor& ours, const std::string& theirs, bool transposed = false) {
      const torch::Tensor expected = at(form + ".grad." + theirs);
      EXPECT_LT(relative_difference(ours.grad(), transposed ? expected.t() : expected), 1e-9) << theirs;
    };
    expect(decoder.enter, "encoder_to_decoder.weight", true);
    expect(decoder.weight, "decoder.fc.weight");
    expect(decoder.attention_source, "decoder.attn_l");
    // Masked rows are zero, and they alone are decoded: the attention of targets learns nothing, here as there.
    EXPECT_EQ(at(form + ".grad.decoder.attn_r").abs().max().item<double>(), 0);
    EXPECT_EQ(decoder.attention_target.grad().abs().max().item<double>(), 0);
    expect(decoder.bias, "decoder.bias");
  }
  static torch::Tensor shown_features(const torch::Tensor& x, const torch::Tensor& token, const Masking& masking) {
    const torch::Tensor shown = torch::tensor(masking.shown, torch::kInt64);
    return torch::where((shown == kMaskToken).unsqueeze(1), token, x.index_select(0, shown.clamp_min(0)));
  }

  std::unique_ptr<test::Golden> golden_;
};

TEST_F(GraphMaeGolden, Nodes) {
  Settings settings = graphmae_settings();
  settings.width = at("node.encoder_output").size(1);
  settings.heads = 1;
  settings.gamma = golden_->number("node.hyper.alpha");
  settings.mask_ratio = golden_->number("node.hyper.mask_rate");
  settings.replace_ratio = golden_->number("node.hyper.replace_rate");
  GraphMae method(settings, InputShape{at("x").size(1), {}, {}});
  method.to(torch::kFloat64);
  auto& decoder = dynamic_cast<GatDecoder&>(*method.decoder);
  set_decoder(decoder, "node");
  const GraphInput input = graph();

  const auto orders_of = [&](const torch::Tensor& nodes, const torch::Tensor& masked, const torch::Tensor& donors) {
    return graphmae::Orders{test::to_int32(nodes), test::to_int32(masked), test::to_int32(donors)};
  };
  const Masking masking =
      graphmae::mask_by_orders(orders_of(at("node.draw.permutation"), at("node.draw.permutation_of_masked"),
                                         at("node.draw.permutation_for_donors")),
                               settings.mask_ratio, settings.replace_ratio);
  EXPECT_EQ(masking.masked, test::to_int32(at("node.masked")));
  const torch::Tensor token = at("node.param.enc_mask_token").requires_grad_();
  const torch::Tensor weight = at("node.standin_encoder.weight").requires_grad_(),
                      adjacency = at("node.standin_encoder.adjacency");
  const auto loss_of = [&](const Masking& hidden, const torch::Tensor& t, const torch::Tensor& w,
                           torch::Tensor* nodes) {
    const torch::Tensor rows = adjacency.mm(shown_features(at("x"), t, hidden)).mm(w);
    if (nodes != nullptr) {
      *nodes = rows;
      nodes->retain_grad();
    }
    return decoder.loss({input, rows, hidden, settings, 0});
  };
  torch::Tensor nodes;
  const torch::Tensor loss = loss_of(masking, token, weight, &nodes);
  EXPECT_LT(relative_difference(nodes, at("node.encoder_output")), 1e-9);
  EXPECT_LT(relative_difference(loss, at("node.loss")), 1e-9);
  EXPECT_LT(relative_difference(decoder.predict({input, nodes, masking, settings, 0}),
                                at("node.reconstruction").index_select(0, masking.masked_indices)),
            1e-9);
  loss.backward();
  expect_decoder_gradients(decoder, "node");
  EXPECT_LT(relative_difference(nodes.grad(), at("node.grad.encoder_output")), 1e-9);
  EXPECT_LT(relative_difference(token.grad(), at("node.grad.enc_mask_token")), 1e-9);
  EXPECT_LT(relative_difference(weight.grad(), at("node.grad.standin_encoder.weight")), 1e-9);

  // Their training loop: Adam with L2 decay, a cosine rate.
  NamedTensors parameters = {{"token", token}, {"weight", weight}};
  for (const auto& item : decoder.named_parameters()) parameters.emplace_back(item.key(), item.value());
  Optimiser optimiser(OptimizerKind::adam, golden_->number("node.train.weight_decay"), parameters);
  const torch::Tensor losses = at("node.train.losses"), rates = at("node.train.lr");
  for (int64_t k = 0; k < losses.numel(); ++k) {
    const Masking hidden =
        graphmae::mask_by_orders(orders_of(at("node.train.permutation")[k], at("node.train.permutation_of_masked")[k],
                                           at("node.train.permutation_for_donors")[k]),
                                 settings.mask_ratio, settings.replace_ratio);
    optimiser.clear_gradients();
    const torch::Tensor value = loss_of(hidden, token, weight, nullptr);
    EXPECT_LT(relative_difference(value, losses[k]), 1e-9) << "step " << k;
    value.backward();
    optimiser.step(rates[k].item<double>());
  }
  EXPECT_LT(relative_difference(token, at("node.after_training.enc_mask_token")), 1e-9);
  EXPECT_LT(relative_difference(weight, at("node.after_training.standin_encoder.weight")), 1e-9);
  EXPECT_LT(relative_difference(decoder.weight, at("node.after_training.decoder.fc.weight")), 1e-9);
  EXPECT_LT(relative_difference(decoder.enter, at("node.after_training.encoder_to_decoder.weight").t()), 1e-9);
}

TEST_F(GraphMaeGolden, WithTheOriginalEncoder) {
  const torch::Tensor attention = at("full.param.encoder.layer0.attn_l");  // [1,H,C]
  Settings settings = graphmae_settings();
  settings.heads = attention.size(1);
  settings.width = attention.size(1) * attention.size(2);
  settings.gamma = golden_->number("full.hyper.alpha");
  GraphMae method(settings, InputShape{at("x").size(1), {}, {}});
  method.to(torch::kFloat64);
  method.train();
  set_decoder(dynamic_cast<GatDecoder&>(*method.decoder), "full");
  const std::vector<std::tuple<std::string, std::string, bool>> names = {
      {"mask_token", "enc_mask_token", false},
      {"layer0.weight", "encoder.layer0.fc.weight", true},
      {"layer0.attention_source", "encoder.layer0.attn_l", false},
      {"layer0.attention_target", "encoder.layer0.attn_r", false},
      {"layer0.bias", "encoder.layer0.bias", false},
      {"slope0", "encoder.layer0.activation.weight", false},
      {"layer1.weight", "encoder.layer1.fc.weight", true},
      {"layer1.attention_source", "encoder.layer1.attn_l", false},
      {"layer1.attention_target", "encoder.layer1.attn_r", false},
      {"layer1.bias", "encoder.layer1.bias", false},
      {"slope1", "encoder.layer1.activation.weight", false}};
  auto parameters = method.encoder->named_parameters();
  ASSERT_EQ(parameters.size(), names.size());
  for (const auto& [ours, theirs, transposed] : names) set(parameters[ours], at("full.param." + theirs), transposed);
  const GraphInput input = graph();
  const torch::Tensor loss = method.loss(input, mask_nodes(input.num_nodes(), test::to_int32(at("full.masked"))));
  EXPECT_LT(relative_difference(loss, at("full.loss")), 1e-9);
  loss.backward();
  expect_decoder_gradients(dynamic_cast<GatDecoder&>(*method.decoder), "full");
  for (const auto& [ours, theirs, transposed] : names) {
    const torch::Tensor expected = at("full.grad." + theirs);
    EXPECT_LT(relative_difference(parameters[ours].grad(), transposed ? expected.t() : expected), 1e-9) << ours;
  }
  EXPECT_LT(relative_difference(method.model()->embed(input), at("full.embedding_of_clean_graph")), 1e-9);
}

TEST_F(GraphMaeGolden, Molecules) {
  const torch::Tensor nodes = at("molecule.encoder_output").requires_grad_(), edges = at("molecule.edge_index"),
                      bonds = at("molecule.edge_attr");
  Settings settings = graphmae_settings();
  settings.encoder = EncoderKind::gated_gcn;
  settings.width = nodes.size(1);
  settings.gamma = golden_->number("molecule.hyper.alpha");
  constexpr int64_t kLoop = 4;  // their code of an atom itself
  const int64_t types = at("molecule.param.conv.mlp.2.bias").numel();
  GraphMae method(settings,
                  InputShape{0, {types + 1, 3}, {kLoop, at("molecule.param.conv.edge_embedding2.weight").size(0)}});
  method.to(torch::kFloat64);
  auto& decoder = dynamic_cast<GinDecoder&>(*method.decoder);
  set(decoder.slope, at("molecule.param.activation.weight"));
  set(decoder.enter, at("molecule.param.enc_to_dec.weight"), true);
  set(decoder.bond_tables[0], at("molecule.param.conv.edge_embedding1.weight").slice(0, 0, kLoop + 1));
  set(decoder.bond_tables[1], at("molecule.param.conv.edge_embedding2.weight"));
  set(decoder.hidden->weight, at("molecule.param.conv.mlp.0.weight"), true);
  set(decoder.hidden->bias, at("molecule.param.conv.mlp.0.bias"));
  set(decoder.out->weight, at("molecule.param.conv.mlp.2.weight"), true);
  set(decoder.out->bias, at("molecule.param.conv.mlp.2.bias"));
  GraphInput input;
  input.graph = MessageGraph(EdgeIndex::from_list(test::to_int32(edges[0]), test::to_int32(edges[1]), nodes.size(0)));
  input.bonds = coded_rows(bonds.index_select(0, std::get<1>(edges[1].sort(/*stable=*/true, 0, false))));
  input.features = NodeFeatures(torch::one_hot(at("molecule.atom_type"), types).to(torch::kFloat64));
  const Masking masking = mask_nodes(nodes.size(0), test::to_int32(at("molecule.masked")));
  EXPECT_LT(
      relative_difference(decoder.predict({input, nodes, masking, settings, 0}), at("molecule.prediction_at_masked")),
      1e-9);
  const torch::Tensor loss = decoder.loss({input, nodes, masking, settings, 0});
  EXPECT_LT(relative_difference(loss, at("molecule.loss")), 1e-9);
  loss.backward();
  EXPECT_LT(relative_difference(nodes.grad(), at("molecule.grad.encoder_output")), 1e-9);
  EXPECT_LT(relative_difference(decoder.slope.grad(), at("molecule.grad.activation.weight")), 1e-9);
  EXPECT_LT(relative_difference(decoder.enter.grad(), at("molecule.grad.enc_to_dec.weight").t()), 1e-9);
  EXPECT_LT(relative_difference(decoder.hidden->weight.grad(), at("molecule.grad.conv.mlp.0.weight").t()), 1e-9);
  EXPECT_LT(relative_difference(decoder.out->bias.grad(), at("molecule.grad.conv.mlp.2.bias")), 1e-9);
  EXPECT_LT(relative_difference(decoder.bond_tables[0].grad(),
                                at("molecule.grad.conv.edge_embedding1.weight").slice(0, 0, kLoop + 1)),
            1e-9);
  EXPECT_LT(relative_difference(decoder.bond_tables[1].grad(), at("molecule.grad.conv.edge_embedding2.weight")), 1e-9);
}

}  // namespace
}  // namespace graphpae
