#include "bench/sampling_bench.h"

#include <torch/torch.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <unordered_map>

#include "bench/measure.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/row_files.h"
#include "graphpae/model/embed.h"
#include "graphpae/settings/streams.h"
#include "graphpae/train/pretrain.h"

namespace graphpae::bench {
namespace {

// As one writes it first: neighbours by std::sample, new numbers by a hash table.
int64_t sample_plainly(const Adjacency& adjacency, std::span<const int32_t> seeds, const std::vector<int64_t>& fanout,
                       std::mt19937_64& random) {
  std::vector<int32_t> nodes(seeds.begin(), seeds.end()), sources, drawn;
  std::unordered_map<int32_t, int32_t> number;
  for (size_t s = 0; s < seeds.size(); ++s) number.emplace(seeds[s], static_cast<int32_t>(s));
  size_t first = 0;
  for (const int64_t count : fanout) {
    const size_t last = nodes.size();
    for (; first < last; ++first) {
      const auto row = adjacency.row(nodes[first]);
      drawn.clear();
      std::sample(row.begin(), row.end(), std::back_inserter(drawn), count, random);
      sources.push_back(static_cast<int32_t>(first));
      for (const int32_t node : drawn) {
        const auto [place, is_new] = number.emplace(node, static_cast<int32_t>(nodes.size()));
        if (is_new) nodes.push_back(node);
        sources.push_back(place->second);
      }
    }
  }
  return static_cast<int64_t>(nodes.size());
}

}  // namespace

Graph sampling_graph(const SamplingGraph& size, Threads threads) {
  constexpr int64_t kCommunities = 100;
  const int64_t community_size = (size.nodes + kCommunities - 1) / kCommunities;
  const Rng rng(1);
  Buffer<Edge> edges(static_cast<size_t>(size.edges));
  Buffer<float> values(static_cast<size_t>(size.nodes * size.features));
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t e = 0; e < size.edges; ++e) {
    const auto bits = rng.block(static_cast<uint64_t>(e));
    const int64_t src = static_cast<int64_t>(bits[0]) * size.nodes >> 32;
    const int64_t community = src / community_size;
    const int64_t near = community * community_size + static_cast<int64_t>(bits[1]) % community_size;
    const bool stays =
        bits[3] % 1000 < 450 + 500 * static_cast<uint32_t>(community) / kCommunities;  // some hold closer
    const int64_t anywhere = static_cast<int64_t>(bits[2]) * size.nodes >> 32;
    edges[e] = {static_cast<int32_t>(src), static_cast<int32_t>(stays ? std::min(near, size.nodes - 1) : anywhere)};
  }
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t i = 0; i < size.nodes; ++i) {
    const Rng row(2, static_cast<uint64_t>(i / community_size));  // communities look alike, up to noise
    for (int64_t f = 0; f < size.features; ++f)
      values[i * size.features + f] = static_cast<float>(row.uniform(f) + 0.3 * rng.uniform(i * size.features + f));
  }
  GraphParts parts;
  parts.num_nodes = size.nodes;
  parts.edges.push_back(std::move(edges));
  parts.features = Features::dense(size.nodes, size.features, std::move(values));
  return Graph(std::move(parts), {}, threads);
}

SamplingBench run_sampling_bench(const Graph& graph, const Settings& settings, int steps, Threads threads) {
  InputOptions options;
  options.threads = threads;
  const PreparedGraph prepared = prepare(graph, settings, options);
  const SamplingOptions sampling = sampling_options(settings);
  SamplingBench bench;
  bench.nodes = graph.num_nodes();
  bench.edges = static_cast<int64_t>(graph.adjacency().neighbours().size());
  bench.seeds = std::min(settings.batch_size, bench.nodes);
  const std::vector<int32_t> order =
      stream_of(settings, Stream::order, 0).permutation(static_cast<int32_t>(bench.nodes));
  const auto seeds_of = [&](int step) {
    const int64_t first = step * bench.seeds % (bench.nodes - bench.seeds + 1);
    return std::span<const int32_t>(order).subspan(static_cast<size_t>(first), static_cast<size_t>(bench.seeds));
  };
  NeighbourSampler sampler(graph.adjacency(), sampling);
  int step = 0;
  const auto rate = [&](const auto& draw) {
    draw();
    return static_cast<double>(bench.seeds) / median_seconds(9, draw);
  };
  const auto draw_with = [&](Threads team) {
    return [&, team] {
      const auto sample = sampler.sample(seeds_of(step), stream_of(settings, Stream::sampling, step), team);
      bench.reached = static_cast<int64_t>(sample.nodes.size());
      ++step;
    };
  };
  bench.sampler = rate(draw_with(threads));
  bench.one_thread = rate(draw_with({1}));
  std::mt19937_64 random(1);
  bench.straightforward = rate([&] { sample_plainly(graph.adjacency(), seeds_of(step++), sampling.fanout, random); });
  bench.make_ms =
      1e3 * median_seconds(5, [&] {
        sample_input(prepared, sampler.sample(seeds_of(step), stream_of(settings, Stream::sampling, step), {1}));
        ++step;
      });

  Pretrainer trainer(prepared, input_shape(graph), settings);
  trainer.train_step();
  SampledBatches batches(prepared, settings);
  const GraphInput ready = batches.input(0, 1);
  Method& method = trainer.method();
  std::vector<double> with, without;
  for (int i = 0; i < steps; ++i) {
    with.push_back(median_seconds(1, [&] { trainer.train_step(); }));
    without.push_back(median_seconds(1, [&] {
      method.zero_grad();
      method.learn(ready, LearningStep{});
    }));
  }
  bench.step_ms = 1e3 * median(with);
  bench.without_ms = 1e3 * median(without);
  return bench;
}

void run_large_bench(const SamplingGraph& size, const Settings& settings, int steps, int64_t memory,
                     const std::string& output, Threads threads, const std::function<void(const LargePart&)>& report) {
  const auto part = [&](const std::string& name, const auto& body) {
    restart_peak_memory();
    const double seconds = median_seconds(1, body);
    report({name, seconds, resident_memory(), peak_memory()});
  };
  std::optional<Graph> graph;
  PreparedGraph prepared;
  part("graph and features", [&] { graph.emplace(sampling_graph(size, threads)); });
  InputOptions options;
  options.threads = threads;
  part("eigenvectors", [&] { prepared = prepare(*graph, settings, options); });
  std::shared_ptr<Model> model;
  part("training", [&] {
    Pretrainer trainer(prepared, input_shape(*graph), settings);
    for (int step = 0; step < steps; ++step) trainer.train_step();
    model = trainer.model();
  });
  part("embedding", [&] {
    EmbeddingRows file(output, graph->num_nodes(), settings.width);
    EmbedOptions embedding;
    embedding.memory = memory;
    embed(*model, prepared, embedding, [&](int64_t, int64_t count, const float* rows) {
      file.add({rows, static_cast<size_t>(count * settings.width)});
    });
    file.commit();
  });
}

}  // namespace graphpae::bench
