// parity FILE.npz...: runs the model with the weights, masks and offsets of golden files and compares every recorded
// quantity. Each file is computed in float64 (relative error at most 1e-9), in float32 with plain operations and in
// float32 with fused operations (at most 1e-4). Exit code 1 if a quantity is off, 3 if a file is not of that form.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/io/npy.h"
#include "graphpae/methods/graph_pae/graph_pae.h"
#include "graphpae/ops/tensors.h"
#include "graphpae/train/optimiser.h"
#include "tests/parity/golden_names.h"
#include "tests/support/golden.h"

namespace graphpae::parity {
namespace {

using test::Golden;
using test::to_int32;

struct Mode {
  const char* name;
  torch::Dtype type;
  Kernels kernels;
  double tolerance;
};
constexpr Mode kModes[] = {{"float64", torch::kFloat64, Kernels::reference, 1e-9},
                           {"float32", torch::kFloat32, Kernels::reference, 1e-4},
                           {"float32 fused", torch::kFloat32, Kernels::fused, 1e-4}};

// Share of the largest gradient below which a gradient counts as rounding.
constexpr double kGradientFloor = 1e-6;

// One golden file brought into the form of our model.
class Problem {
 public:
  Problem(const Golden& golden, const Mode& mode) : golden_(golden), mode_(mode) {
    const bool molecules = golden.has("batch");
    settings_.encoder = molecules ? EncoderKind::gated_gcn : EncoderKind::gat;
    settings_.layers = static_cast<int64_t>(golden.number("hyper.layers"));
    if (!molecules) settings_.heads = static_cast<int64_t>(golden.number("hyper.heads"));
    settings_.width = golden.tensor("embed").size(1);
    settings_.gamma = golden.number("hyper.gamma");
    settings_.alpha = golden.number("hyper.alpha");
    settings_.gaussians = golden.tensor("param.encoder.pe_enc.gbf.0.means.weight").numel();
    settings_.eigenvectors = golden.tensor("u").size(1);
    read_input(molecules);
  }

  std::shared_ptr<GraphPae> make_model() const {
    auto model = std::make_shared<GraphPae>(settings_, shape_);
    model->to(mode_.type);
    const torch::NoGradGuard no_grad;
    auto tensors = model->named_parameters();
    for (const auto& buffer : model->named_buffers()) tensors.insert(buffer.key(), buffer.value());
    size_t loaded = 0;
    for (const std::string& theirs : golden_.under("param")) {
      const OurName ours = name_of(theirs);
      if (ours.name.empty()) continue;
      torch::Tensor* tensor = tensors.find(ours.name);
      if (tensor == nullptr) throw data_error(fmt::format("param.{}: our model has no {}", theirs, ours.name));
      tensor->copy_(to_ours(golden_.tensor("param." + theirs), ours, tensor->sizes()));
      ++loaded;
    }
    if (loaded != tensors.size())
      throw data_error(fmt::format("{} of {} tensors of the model are in the file", loaded, tensors.size()));
    return model;
  }

  // Their parameter or gradient in the shape of ours.
  static torch::Tensor to_ours(const torch::Tensor& theirs, const OurName& ours, at::IntArrayRef shape) {
    return (ours.transposed ? theirs.t() : theirs).reshape(shape);
  }
  OurName name_of(const std::string& theirs) const {
    const auto ours = our_name(theirs, settings_.layers);
    if (!ours) throw data_error(fmt::format("param.{}: unknown parameter", theirs));
    return *ours;
  }

  Corruption corruption(const torch::Tensor& mask, const torch::Tensor& noise) const {
    return make_corruption(input_.num_nodes(), to_int32(mask), noise);
  }

  const GraphInput& input() const { return input_; }
  const torch::Tensor& edge_order() const { return edge_order_; }  // [E] our edge e is their edge edge_order[e]

 private:
  void read_input(bool molecules) {
    torch::Tensor edges = golden_.tensor(molecules ? "edge_index" : "edge_index_with_loops");
    // The recorded molecule states of column (a, b) belong to the message from b to a.
    if (molecules) edges = edges.flip(0);
    const int64_t nodes = golden_.tensor("u").size(0);
    input_.graph = MessageGraph(EdgeIndex::from_list(to_int32(edges[0]), to_int32(edges[1]), nodes));
    edge_order_ = std::get<1>(edges[1].sort(/*stable=*/true, 0, false));
    input_.positions = golden_.tensor("u");
    input_.distances = edge_distances(input_.graph, input_.positions, mode_.type, all_threads());
    input_.threads = all_threads();
    input_.kernels = mode_.kernels;
    if (molecules) {
      input_.atoms = coded_rows(golden_.tensor("x"));
      input_.bonds = coded_rows(golden_.tensor("edge_attr").index_select(0, edge_order_));
      input_.graph_offsets = offsets_of(to_int32(golden_.tensor("batch")));
      shape_.atom_codes = code_sizes("encoder.atom");
      shape_.bond_codes = code_sizes("encoder.bond");
    }
    torch::Tensor x = golden_.tensor("x");
    if (molecules) x = torch::one_hot(x.select(1, 0), shape_.atom_codes[0] - 1);
    x = x.to(mode_.type).contiguous();
    if (!molecules) shape_.features = x.size(1);
    if (mode_.kernels == Kernels::reference) {
      input_.features = NodeFeatures(x);
    } else {
      Buffer<float> values(x.data_ptr<float>(), x.data_ptr<float>() + x.numel());
      input_.features =
          NodeFeatures(std::make_shared<const Features>(Features::compact(x.size(0), x.size(1), std::move(values))));
    }
  }

  // The molecules of a batch follow each other: where each begins, and the end.
  static std::vector<int64_t> offsets_of(const std::vector<int32_t>& molecule_of_node) {
    std::vector<int64_t> offsets = {0};
    for (size_t i = 1; i <= molecule_of_node.size(); ++i) {
      if (i == molecule_of_node.size() || molecule_of_node[i] != molecule_of_node[i - 1])
        offsets.push_back(static_cast<int64_t>(i));
    }
    return offsets;
  }

  std::vector<int64_t> code_sizes(const std::string& prefix) const {
    std::map<int64_t, int64_t> sizes;
    for (const std::string& theirs : golden_.under("param")) {
      const OurName ours = name_of(theirs);
      if (ours.name.starts_with(prefix))
        sizes[std::stoll(ours.name.substr(prefix.size()))] = golden_.tensor("param." + theirs).size(0);
    }
    std::vector<int64_t> list;
    for (const auto& [index, size] : sizes) list.push_back(size);
    return list;
  }

  const Golden& golden_;
  const Mode& mode_;
  Settings settings_;
  InputShape shape_;
  GraphInput input_;
  torch::Tensor edge_order_;
};

// Largest difference over the largest expected magnitude.
double relative_error(const torch::Tensor& found, const torch::Tensor& expected, double floor = 0) {
  if (found.numel() != expected.numel()) return std::numeric_limits<double>::infinity();
  if (expected.numel() == 0) return 0;
  const torch::Tensor a = found.detach().to(torch::kFloat64).reshape({-1}), b = expected.reshape({-1});
  const double scale = std::max(b.abs().max().item<double>(), floor);
  const double difference = (a - b).abs().max().item<double>();
  if (difference == 0) return 0;
  return std::isfinite(difference) && scale > 0 ? difference / scale : std::numeric_limits<double>::infinity();
}

class Report {
 public:
  Report(std::string file, const Mode& mode) : file_(std::move(file)), mode_(mode) {}

  void add(const std::string& quantity, double error) {
    const bool good = error <= mode_.tolerance;
    failed_ += !good;
    largest_ = std::max(largest_, error);
    fmt::print("  {:<52} {:.2e}{}\n", quantity, error, good ? "" : "  TOO LARGE");
  }
  bool finish() const {
    fmt::print("{} {}: largest relative error {:.2e}, allowed {:.0e}: {}\n", file_, mode_.name, largest_,
               mode_.tolerance, failed_ == 0 ? "good" : fmt::format("{} quantities are off", failed_));
    return failed_ == 0;
  }

 private:
  std::string file_;
  const Mode& mode_;
  int failed_ = 0;
  double largest_ = 0;
};

void compare_step(const Golden& golden, const Problem& problem, Report& report) {
  const GraphInput& input = problem.input();
  const auto model = problem.make_model();
  const auto order = [&](const torch::Tensor& theirs) { return theirs.index_select(0, problem.edge_order()); };

  model->eval();
  report.add("embed", relative_error(model->model()->embed(input), golden.tensor("embed")));
  report.add("distance", relative_error(input.distances, order(golden.tensor("distance"))));
  const Corruption corruption = problem.corruption(golden.tensor("mask"), golden.tensor("noise"));
  report.add("distance_corrupted",
             relative_error(corrupted_distances(input, corruption), order(golden.tensor("distance_corrupted"))));

  model->train();
  {
    // Looking inside moves batch statistics: on a model of its own.
    const auto looked_into = problem.make_model();
    looked_into->train();
    const GraphPae::Encodings encodings = looked_into->encode(input, corruption);
    const torch::Tensor refined = encodings.position_pass.positions;
    report.add("feature_pass_output",
               relative_error(encodings.feature_pass.nodes, golden.tensor("feature_pass_output")));
    report.add("position_pass_refined", relative_error(refined, order(golden.tensor("position_pass_refined"))));
    report.add("predicted_features",
               relative_error(looked_into->decode_features(encodings.feature_pass.nodes, corruption),
                              golden.tensor("predicted_features")));
    const torch::Tensor predicted = looked_into->decode_distances(input, refined).detach();
    const torch::Tensor edges = golden.tensor("predicted_distance_edges");
    std::map<std::pair<int64_t, int64_t>, int64_t> pair_of;
    for (int64_t e = 0; e < input.graph.num_edges(); ++e) {
      pair_of[{input.graph.sources[e].item<int64_t>(), input.graph.targets[e].item<int64_t>()}] =
          input.graph.index->pair_of_edge()[e];
    }
    std::vector<int64_t> pairs;
    for (int64_t e = 0; e < edges.size(1); ++e)
      pairs.push_back(pair_of.at({edges[0][e].item<int64_t>(), edges[1][e].item<int64_t>()}));
    report.add("predicted_distance", relative_error(predicted.index_select(0, torch::tensor(pairs, torch::kInt64)),
                                                    golden.tensor("predicted_distance")));
  }

  const Losses losses = model->losses(input, corruption);
  report.add("loss_feature", relative_error(losses.feature, golden.tensor("loss_feature")));
  report.add("loss_position", relative_error(losses.position, golden.tensor("loss_position")));
  report.add("loss", relative_error(losses.total, golden.tensor("loss")));
  losses.total.backward();

  const auto parameters = model->named_parameters();
  size_t compared = 0, with_gradient = 0;
  for (const auto& item : parameters) with_gradient += item.value().grad().defined();
  // A gradient that is zero but for rounding is compared on the scale of the others.
  double largest = 0;
  for (const std::string& theirs : golden.under("grad"))
    largest = std::max(largest, golden.tensor("grad." + theirs).abs().max().item<double>());
  for (const std::string& theirs : golden.under("grad")) {
    const OurName ours = problem.name_of(theirs);
    const torch::Tensor* parameter = parameters.find(ours.name);
    if (parameter == nullptr || !parameter->grad().defined())
      throw data_error(fmt::format("grad.{}: ours has no gradient", theirs));
    const torch::Tensor expected = Problem::to_ours(golden.tensor("grad." + theirs), ours, parameter->sizes());
    report.add("grad " + ours.name, relative_error(parameter->grad(), expected, kGradientFloor * largest));
    ++compared;
  }
  if (compared != with_gradient)
    throw data_error(fmt::format("{} gradients in the file, {} parameters have one", compared, with_gradient));
}

void compare_training(const Golden& golden, const Problem& problem, Report& report) {
  const auto model = problem.make_model();
  NamedTensors parameters;
  for (const auto& item : model->named_parameters()) parameters.emplace_back(item.key(), item.value());
  Optimiser optimiser(OptimizerKind::adam, 0, parameters, problem.input().threads);
  const torch::Tensor masks = golden.tensor("train.masks"), noises = golden.tensor("train.noises");
  const double lr = golden.number("train.lr");
  std::vector<double> found;
  model->train();
  for (int64_t step = 0; step < masks.size(0); ++step) {
    optimiser.clear_gradients();
    const torch::Tensor loss = model->losses(problem.input(), problem.corruption(masks[step], noises[step])).total;
    loss.backward();
    optimiser.step(lr);
    found.push_back(loss.item<double>());
  }
  report.add("train.losses", relative_error(torch::tensor(found, torch::kFloat64), golden.tensor("train.losses")));
  model->eval();
  report.add("embed_after_training",
             relative_error(model->model()->embed(problem.input()), golden.tensor("embed_after_training")));
}

bool compare(const std::string& path, const Mode& mode) {
  const Golden golden(path);
  fmt::print("{} in {}\n", path, mode.name);
  Report report(path, mode);
  const Problem problem(golden, mode);
  compare_step(golden, problem, report);
  compare_training(golden, problem, report);
  return report.finish();
}

}  // namespace
}  // namespace graphpae::parity

int main(int argc, char** argv) {
  using namespace graphpae;
  if (argc < 2) {
    fmt::print(stderr, "usage: parity FILE.npz...\n");
    return 2;
  }
  use_threads_in_torch(all_threads());
  bool good = true;
  for (int k = 1; k < argc; ++k) {
    try {
      for (const parity::Mode& mode : parity::kModes) good &= parity::compare(argv[k], mode);
    } catch (const Error& error) {
      fmt::print(stderr, "parity: error: {}: {}\n", argv[k], error.what());
      return error.exit_code();
    } catch (const std::exception& error) {
      fmt::print(stderr, "parity: error: {}: {}\n", argv[k], error.what());
      return 1;
    }
  }
  return good ? 0 : 1;
}
