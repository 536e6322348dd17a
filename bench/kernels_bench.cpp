#include "bench/kernels_bench.h"

#include <torch/torch.h>

#include <numeric>

#include "bench/measure.h"
#include "graphpae/kernels/adam.h"
#include "graphpae/methods/graph_pae/graph_pae.h"
#include "graphpae/model/gat_layer.h"
#include "graphpae/model/inputs.h"
#include "graphpae/ops/attention_ops.h"
#include "graphpae/ops/dense_ops.h"
#include "graphpae/ops/feature_ops.h"
#include "graphpae/ops/position_ops.h"

namespace graphpae::bench {
namespace {

using torch::Tensor;
using Operation = std::function<Tensor()>;

// The rate an operation is limited by.
enum class Bound { products, cache, memory };

struct Work {
  double forward, backward;  // GFLOP or GB
  Bound bound;
};

class Bench {
 public:
  Bench(const KernelsBenchOptions& options, const Probes& probes, const std::function<void(const KernelRow&)>& report)
      : options_(options), probes_(probes), report_(report) {}

  // `fused` and `plain` compute the same from leaves that want gradients.
  void run(const std::string& name, const Work& work, const Operation& fused, const Operation& plain) {
    const Times ours = times(fused, options_.repeat);
    const Times theirs = plain && options_.plain ? times(plain, std::min(options_.repeat, 3)) : Times{};
    report(name, "forward", work.forward, work.bound, ours.forward, theirs.forward);
    if (work.backward > 0) report(name, "backward", work.backward, work.bound, ours.backward, theirs.backward);
  }

 private:
  struct Times {
    double forward = 0, backward = 0;
  };

  static Times times(const Operation& operation, int repeat) {
    std::vector<double> forward, backward;
    for (int k = 0; k <= repeat; ++k) {
      Tensor out;
      const double f = median_seconds(1, [&] { out = operation(); });
      double b = 0;
      if (out.requires_grad()) {
        const Tensor gradient = torch::ones_like(out);
        b = median_seconds(1, [&] { out.backward(gradient); });
      }
      if (k == 0) continue;  // warm-up
      forward.push_back(f);
      backward.push_back(b);
    }
    return {median(std::move(forward)), median(std::move(backward))};
  }

  void report(const std::string& name, const std::string& direction, double work, Bound bound, double ours,
              double theirs) {
    const double rate = work / ours;
    const double limit = bound == Bound::products ? probes_.fma_gflops
                         : bound == Bound::cache  ? probes_.l2_gb_per_s
                                                  : probes_.stream_gb_per_s;
    report_({name, direction, ours, theirs, work, bound == Bound::products, rate / limit,
             bound == Bound::products ? "multiply-add"
             : bound == Bound::cache  ? "L2"
                                      : "memory"});
  }

  const KernelsBenchOptions& options_;
  const Probes& probes_;
  const std::function<void(const KernelRow&)>& report_;
};

Tensor random(Initialiser& init, at::IntArrayRef shape, double deviation = 1) {
  return init.normal(shape, deviation).requires_grad_(true);
}

}  // namespace

void run_kernels_bench(const Graph& graph, const Settings& settings, const KernelsBenchOptions& options,
                       const Probes& probes, const std::function<void(const KernelRow&)>& report) {
  InputOptions input_options;
  input_options.threads = options.threads;
  const GraphInput input = make_input(graph, settings, input_options);
  GraphInput plain_input = input;
  plain_input.kernels = Kernels::reference;
  const Threads threads = options.threads;
  const EdgeIndex& edges = *input.graph.index;
  const int64_t n = graph.num_nodes(), f = graph.features().columns(), d = settings.width, h = settings.heads,
                e = edges.num_edges(), k = settings.eigenvectors;
  const Corruption corruption = draw_corruption(n, k, settings, Rng(1));
  const int64_t m = static_cast<int64_t>(corruption.masked.size());
  const double nd = static_cast<double>(n * d), md = static_cast<double>(m * d), eh = static_cast<double>(e * h);
  Initialiser init(3);
  Bench bench(options, probes, report);
  const auto giga = [](double value) { return value / 1e9; };

  {
    const Tensor x = random(init, {n, d}), w = random(init, {d, d}, 0.03);
    bench.run(
        "dense product", {giga(2 * nd * d), giga(4 * nd * d), Bound::products},
        [&] { return ops::linear(x, w, {}, threads); }, [&] { return torch::mm(x, w); });
  }
  {
    const Tensor token = random(init, {f}), w = random(init, {f, d}, 0.03);
    const kernels::Dropout dropped{static_cast<float>(settings.dropout), 5};
    // What a dense product of the token rows would take, and the sparse rows.
    const double tokens = settings.dropout > 0 ? 2 * md * static_cast<double>(f) : 0;
    const double work = tokens + 2 * static_cast<double>(graph.features().nonzeros() * d) * (1 - settings.dropout);
    const auto plain = [&] {
      const Tensor shown = torch::tensor(corruption.shown, torch::kInt64);
      const Tensor corrupted = torch::where((shown == kMaskToken).unsqueeze(1), token.unsqueeze(0),
                                            input.features.dense().index_select(0, shown.clamp_min(0)));
      return torch::mm(dropout(corrupted, dropped), w);
    };
    bench.run(
        "first layer", {giga(work), giga(work), Bound::products},
        [&] { return ops::corrupted_product(*input.features.matrix(), corruption.shown, token, w, dropped, threads); },
        plain);
  }
  {
    GatLayer layer(settings, d, init);
    const Tensor z = random(init, {n, d}), p = random(init, {e, h});
    // Each edge reads one row forward, and backward one row for both gradients.
    const double bytes = 4 * static_cast<double>(e * d);
    const auto attend = [&](const GraphInput& from) {
      return [&] { return layer(from, from.graph, z, p, kernels::Dropout()).nodes; };
    };
    bench.run("attention", {giga(bytes), giga(bytes), Bound::cache}, attend(input), attend(plain_input));
  }
  {
    DistanceEmbedding embedding(settings, h, init);
    const Tensor shaken = corrupted_distances(input, corruption);
    int64_t distinct = edges.num_pairs() + 1;
    for (const int32_t edge : edges.pair_forward())
      distinct += input.distances.data_ptr<float>()[edge] != shaken.data_ptr<float>()[edge];
    const double g = static_cast<double>(settings.gaussians),
                 flops = 2 * static_cast<double>(distinct) * g * (g + static_cast<double>(h));
    const auto embed = [&](const GraphInput& from) {
      return [&] {
        const auto both = embedding->embed(from, from.distances, shaken);
        return both.clean.rows + both.corrupted.rows;
      };
    };
    bench.run("distances", {giga(flops), giga(2 * flops), Bound::products}, embed(input), embed(plain_input));
  }
  {
    const Tensor x = random(init, {n, d});
    const kernels::Dropout dropped{static_cast<float>(settings.dropout), 5};
    bench.run(
        "elu and dropout", {giga(8 * nd), giga(12 * nd), Bound::memory},
        [&] { return ops::elu_dropout(x, dropped, threads); }, [&] { return dropout(torch::elu(x), dropped); });
  }
  {
    const Tensor x = random(init, {m, d});
    torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({d}));
    bench.run(
        "gelu and norm", {giga(8 * md), giga(12 * md), Bound::memory},
        [&] { return ops::activation_norm(x, norm->weight, norm->bias, kernels::NormActivation::kGelu, threads); },
        [&] { return norm(torch::gelu(x)); });
  }
  {
    const Tensor x = random(init, {m, d}), w = random(init, {f, d}, 0.03), b = random(init, {f}, 0.1);
    kernels::ErrorWorkspace workspace;
    const Tensor target = input.features.dense().index_select(0, corruption.masked_indices);
    const double direct = 6 * md * static_cast<double>(f);
    const double gram = 4 * static_cast<double>(d * d) * static_cast<double>(f) + 4 * md * static_cast<double>(d);
    bench.run(
        "feature loss", {giga(std::min(direct, gram)), 0, Bound::products},
        [&] {
          return ops::feature_error(x, w, b, *input.features.matrix(), corruption.masked,
                                    ops::FeatureErrorKind::scaled_cosine, settings.gamma, workspace, threads);
        },
        [&] {  // gradients come with the forward pass of the fused one
          const Tensor loss = scaled_cosine_error(torch::addmm(b, x, w.t()), target, settings.gamma);
          loss.backward();
          return loss.detach();
        });
  }
  {
    Decoder decoder(settings, h, 128, 1, init);
    const Tensor refined = random(init, {e, h});
    const ops::PositionDecoderParameters parameters{decoder->dense->weight, decoder->dense->bias, decoder->norm->weight,
                                                    decoder->norm->bias,    decoder->out->weight, decoder->out->bias};
    // Products, GELU with its derivative and norm of 128 numbers per edge, about 60 operations each.
    bench.run(
        "position loss", {giga(eh * settings.mask_ratio * 128 / static_cast<double>(h) * 60), 0, Bound::products},
        [&] {
          return ops::position_error(input.graph.index, refined, input.distances, corruption.masked, parameters,
                                     threads);
        },
        [&] {
          const Tensor loss = distance_loss(input.graph, decode_pairs(decoder, input.graph, refined), input.distances,
                                            corruption.masked_indices);
          loss.backward();
          return loss.detach();
        });
  }
  {
    const Tensor p = random(init, {f * d}), g = init.normal({f * d}, 1), first = torch::zeros({f * d}),
                 second = torch::zeros({f * d});
    kernels::UpdateOptions update;
    bench.run(
        "adam", {giga(28 * static_cast<double>(f * d)), 0, Bound::memory},
        [&] {
          kernels::update_parameter(update, 1, g.data_ptr<float>(), p.numel(), p.data_ptr<float>(),
                                    first.data_ptr<float>(), second.data_ptr<float>(), threads);
          return first;
        },
        [&] {
          const torch::NoGradGuard no_grad;
          Tensor a = first, b = second, q = p;
          a.mul_(0.9).add_(g, 0.1);
          b.mul_(0.999).addcmul_(g, g, 0.001);
          q.addcdiv_(a, b.sqrt().add_(1e-8), -1e-3);
          return a;
        });
  }
}

}  // namespace graphpae::bench
