#include "bench/probe_bench.h"

#include <torch/torch.h>

#include "bench/measure.h"
#include "graphpae/core/rng.h"
#include "graphpae/evaluate/graph_protocols.h"
#include "graphpae/evaluate/protocols.h"
#include "graphpae/evaluate/random_splits.h"
#include "graphpae/ops/tensors.h"

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

// Rows whose columns are mixtures of factors of falling size, as those of embeddings are: far from independent.
Features mixed_rows(int64_t rows, int64_t columns) {
  const Rng rng(2);
  const torch::Tensor factors = torch::empty({rows, columns}), mixture = torch::empty({columns, columns});
  for (int64_t i = 0; i < factors.numel(); ++i)
    factors.data_ptr<float>()[i] =
        static_cast<float>(rng.normal(static_cast<uint64_t>(i)) / (1 + static_cast<double>(i % columns) / 8));
  for (int64_t i = 0; i < mixture.numel(); ++i)
    mixture.data_ptr<float>()[i] = static_cast<float>(rng.stream(1).normal(static_cast<uint64_t>(i)));
  const torch::Tensor mixed = factors.mm(mixture).contiguous();
  const float* data = mixed.data_ptr<float>();
  return Features::dense(rows, columns, Buffer<float>(data, data + mixed.numel()));
}

// Seconds of evaluating `tasks` tasks that a few columns and noise decide.
double graph_probe_seconds(int64_t rows, int64_t columns, int64_t tasks, bool classes, Threads threads) {
  const Features features = mixed_rows(rows, columns);
  std::vector<double> values;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t t = 0; t < tasks; ++t) {
      const double noise = Rng(3, static_cast<uint64_t>(t)).normal(static_cast<uint64_t>(i));
      const double value = features.dense_row(i)[t] + features.dense_row(i)[columns - 1 - t] + 4 * noise;
      values.push_back(!classes ? value : value > 5 ? 1 : 0);
    }
  }
  Split split;
  for (int32_t i = 0; i < static_cast<int32_t>(rows); ++i)
    (i % 10 < 8 ? split.train : i % 10 == 8 ? split.val : split.test).push_back(i);
  GraphEvaluateOptions options;
  options.threads = threads;
  const GraphTargets targets{std::vector<std::string>(static_cast<size_t>(tasks), "task"), values};
  return median_seconds(1, [&] { evaluate_graphs(features, targets, split, options); });
}

}  // namespace

GraphProbeBench run_graph_probe_bench(Threads threads) {
  GraphProbeBench result;
  result.classes_s = graph_probe_seconds(result.rows, result.columns, 1, true, threads);
  result.numbers_s = graph_probe_seconds(result.rows, result.columns, 1, false, threads);
  result.tasks_s = graph_probe_seconds(result.many_rows, result.columns, result.tasks, true, threads);
  return result;
}

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
