#include "bench/probe_bench.h"

#include <torch/torch.h>

#include "bench/measure.h"
#include "graphpae/core/rng.h"
#include "graphpae/core/tensors.h"
#include "graphpae/evaluate/protocols.h"
#include "graphpae/evaluate/random_splits.h"

namespace graphpae::bench {
namespace {

// One split: learns from its training rows, then predicts all rows, every epoch.
void train_with_libtorch(const torch::Tensor& x, const torch::Tensor& y, const Split& split, int64_t classes,
                         int epochs) {
  const torch::Tensor train =
      torch::tensor(std::vector<int64_t>(split.train.begin(), split.train.end()), torch::kInt64);
  torch::nn::Linear linear(x.size(1), classes);
  torch::optim::Adam adam(linear->parameters(), torch::optim::AdamOptions(1e-2));
  for (int epoch = 0; epoch < epochs; ++epoch) {
    adam.zero_grad();
    torch::nn::functional::cross_entropy(linear(x).index_select(0, train), y.index_select(0, train)).backward();
    adam.step();
    const torch::NoGradGuard guard;
    (void)linear(x).argmax(1).eq(y).sum().item<int64_t>();
  }
}

}  // namespace

ProbeBench run_probe_bench(Threads threads, int epochs, bool libtorch) {
  ProbeBench result;
  const Rng rng(1);
  Buffer<float> values(static_cast<size_t>(result.rows * result.columns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(rng.uniform(i)) - 0.5f;
  std::vector<int32_t> labels(static_cast<size_t>(result.rows));
  for (size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<int32_t>(rng.stream(1).below(i, static_cast<uint64_t>(result.classes)));
  const Features rows = Features::dense(result.rows, result.columns, std::move(values));
  RandomSplitOptions shares = parse_split_shares("48/32/20");
  shares.count = result.splits;
  const std::vector<Split> splits = random_splits(labels, shares);

  EvaluateOptions options;
  options.probe.epochs = epochs;
  options.paper = true;
  options.threads = threads;
  const double per_epoch = 1e3 / epochs;
  result.together_ms = per_epoch * median_seconds(3, [&] { evaluate(rows, labels, result.classes, splits, options); });
  result.one_by_one_ms = per_epoch * median_seconds(1, [&] {
                           for (const Split& split : splits) evaluate(rows, labels, result.classes, {split}, options);
                         });
  result.gflops =
      4e-6 * static_cast<double>(result.rows * result.columns * result.classes * result.splits) / result.together_ms;
  if (libtorch) {
    use_threads_in_torch(threads);
    const torch::Tensor x = features_tensor(rows);
    const torch::Tensor y = torch::tensor(std::vector<int64_t>(labels.begin(), labels.end()), torch::kInt64);
    result.libtorch_ms = per_epoch * median_seconds(1, [&] {
                           for (const Split& split : splits) train_with_libtorch(x, y, split, result.classes, epochs);
                         });
  }
  return result;
}

}  // namespace graphpae::bench
