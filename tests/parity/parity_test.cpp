// The parity program itself, on a file made here: it accepts what our model computes and refuses what differs.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>

#include <map>

#include "graphpae/io/npy.h"
#include "graphpae/methods/graph_pae/graph_pae.h"
#include "graphpae/train/optimiser.h"
#include "tests/parity/golden_names.h"
#include "tests/support/small_graph.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using Arrays = std::map<std::string, torch::Tensor>;

// Their name of each of our parameters.
const std::map<std::string, std::string> kTheirs = {
    {"encoder.mask_token", "enc_mask_token"},
    {"encoder.distance.means", "encoder.pe_enc.gbf.0.means.weight"},
    {"encoder.distance.deviations", "encoder.pe_enc.gbf.0.stds.weight"},
    {"encoder.distance.lift.weight", "encoder.pe_enc.gbf_proj.linear1.weight"},
    {"encoder.distance.lift.bias", "encoder.pe_enc.gbf_proj.linear1.bias"},
    {"encoder.distance.project.weight", "encoder.pe_enc.gbf_proj.linear2.weight"},
    {"encoder.distance.project.bias", "encoder.pe_enc.gbf_proj.linear2.bias"},
    {"encoder.layer0.weight", "encoder.gnns.0.lin.weight"},
    {"encoder.layer0.attention_source", "encoder.gnns.0.att_src"},
    {"encoder.layer0.attention_target", "encoder.gnns.0.att_dst"},
    {"encoder.layer0.bias", "encoder.gnns.0.bias"},
    {"encoder.layer1.weight", "encoder.gnns.1.lin.weight"},
    {"encoder.layer1.attention_source", "encoder.gnns.1.att_src"},
    {"encoder.layer1.attention_target", "encoder.gnns.1.att_dst"},
    {"encoder.layer1.bias", "encoder.gnns.1.bias"},
    {"feature_decoder.dense.weight", "node_pred.dense.weight"},
    {"feature_decoder.dense.bias", "node_pred.dense.bias"},
    {"feature_decoder.norm.weight", "node_pred.layer_norm.weight"},
    {"feature_decoder.norm.bias", "node_pred.layer_norm.bias"},
    {"feature_decoder.out.weight", "node_pred.weight"},
    {"feature_decoder.out.bias", "node_pred.bias"},
    {"position_decoder.dense.weight", "pe_reconstruct_heads.dense.weight"},
    {"position_decoder.dense.bias", "pe_reconstruct_heads.dense.bias"},
    {"position_decoder.norm.weight", "pe_reconstruct_heads.layer_norm.weight"},
    {"position_decoder.norm.bias", "pe_reconstruct_heads.layer_norm.bias"},
    {"position_decoder.out.weight", "pe_reconstruct_heads.out_proj.weight"},
    {"position_decoder.out.bias", "pe_reconstruct_heads.out_proj.bias"},
};

void add_named(Arrays& arrays, const std::string& prefix, const std::string& ours, const torch::Tensor& value) {
  const std::string& theirs = kTheirs.at(ours);
  const auto name = parity::our_name(theirs, 2);
  ASSERT_TRUE(name && name->name == ours) << theirs;
  arrays[prefix + theirs] = name->transposed ? value.detach().t().contiguous() : value.detach().clone();
}

Arrays make_golden() {
  const int32_t n = 16;
  const Graph graph = test::small_graph(n, 7);
  const Settings settings = test::small_settings();
  const GraphInput input = test::in_float64(graph, settings);
  const EdgeIndex& edges = *input.graph.index;
  GraphPae model(settings, input_shape(graph));
  model.to(torch::kFloat64);
  Arrays a;
  a["x"] = input.features.dense();
  a["u"] = input.positions;
  a["edge_index_with_loops"] = torch::stack({input.graph.sources, input.graph.targets});
  a["distance"] = input.distances;
  const auto number = [](double value) { return torch::tensor(value, torch::kFloat64); };
  a["hyper.layers"] = torch::tensor(settings.layers, torch::kInt64);
  a["hyper.heads"] = torch::tensor(settings.heads, torch::kInt64);
  a["hyper.gamma"] = number(settings.gamma);
  a["hyper.alpha"] = number(settings.alpha);
  for (const auto& item : model.named_parameters()) add_named(a, "param.", item.key(), item.value());

  const auto draw = [&](uint64_t seed) { return draw_corruption(n, 5, settings, Rng(seed)); };
  const Corruption corruption = draw(1);
  a["mask"] = corruption.masked_indices;
  a["noise"] = corruption.offsets;
  a["distance_corrupted"] = corrupted_distances(input, corruption);
  model.eval();
  a["embed"] = model.model()->embed(input);
  model.train();
  const auto encodings = model.encode(input, corruption);
  a["feature_pass_output"] = encodings.feature_pass.nodes.detach();
  a["position_pass_refined"] = encodings.position_pass.positions.detach();
  a["predicted_features"] = model.decode_features(encodings.feature_pass.nodes, corruption).detach();
  const torch::Tensor pairs = model.decode_distances(input, encodings.position_pass.positions).detach();
  std::vector<int64_t> pair_sources, pair_targets;
  for (const int32_t e : edges.pair_forward()) {
    pair_sources.push_back(edges.sources()[e]);
    pair_targets.push_back(edges.targets()[e]);
  }
  a["predicted_distance"] = pairs;
  a["predicted_distance_edges"] =
      torch::stack({torch::tensor(pair_sources, torch::kInt64), torch::tensor(pair_targets, torch::kInt64)});
  const Losses losses = model.losses(input, corruption);
  a["loss_feature"] = losses.feature.detach();
  a["loss_position"] = losses.position.detach();
  a["loss"] = losses.total.detach();
  losses.total.backward();
  NamedTensors parameters;
  for (const auto& item : model.named_parameters()) {
    add_named(a, "grad.", item.key(), item.value().grad());
    parameters.emplace_back(item.key(), item.value());
  }
  Optimiser optimiser(OptimizerKind::adam, 0, parameters);
  std::vector<torch::Tensor> masks, noises;
  std::vector<double> found;
  for (uint64_t step = 0; step < 10; ++step) {
    const Corruption c = draw(10 + step);
    masks.push_back(c.masked_indices);
    noises.push_back(c.offsets);
    optimiser.clear_gradients();
    const torch::Tensor loss = model.losses(input, c).total;
    loss.backward();
    optimiser.step(1e-3);
    found.push_back(loss.item<double>());
  }
  a["train.lr"] = number(1e-3);
  a["train.masks"] = torch::stack(masks);
  a["train.noises"] = torch::stack(noises);
  a["train.losses"] = torch::tensor(found, torch::kFloat64);
  model.eval();
  a["embed_after_training"] = model.model()->embed(input);
  return a;
}

int parity_on(const Arrays& arrays, const test::TempDir& dir) {
  std::vector<ZipEntry> entries;
  for (const auto& [name, tensor] : arrays) {
    const torch::Tensor values = tensor.contiguous();
    const size_t count = static_cast<size_t>(values.numel());
    entries.push_back(
        {name + ".npy",
         values.scalar_type() == torch::kInt64
             ? npy_bytes<int64_t>({values.data_ptr<int64_t>(), count}, values.sizes().vec())
             : npy_bytes<double>({values.to(torch::kFloat64).data_ptr<double>(), count}, values.sizes().vec())});
  }
  write_zip(dir / "golden.npz", entries);
  return WEXITSTATUS(std::system(("'" GRAPHPAE_PARITY "' '" + (dir / "golden.npz") + "' >/dev/null 2>&1").c_str()));
}

TEST(Parity, AcceptsWhatAgreesAndRefusesWhatDoesNot) {
  const test::TempDir dir;
  const Arrays golden = make_golden();
  ASSERT_EQ(parity_on(golden, dir), 0);
  for (const char* name : {"embed", "feature_pass_output", "position_pass_refined", "predicted_distance",
                           "loss_position", "grad.encoder.gnns.0.att_dst", "grad.encoder.pe_enc.gbf.0.stds.weight",
                           "train.losses", "embed_after_training"}) {
    Arrays changed = golden;
    changed[name] = golden.at(name) * (1 + 1e-7);
    EXPECT_EQ(parity_on(changed, dir), 1) << name;
  }
  Arrays without = golden;
  without.erase("grad.node_pred.bias");
  EXPECT_EQ(parity_on(without, dir), 3);
  Arrays unknown = golden;
  unknown["param.something.else"] = golden.at("u");
  EXPECT_EQ(parity_on(unknown, dir), 3);
}

}  // namespace
}  // namespace graphpae
