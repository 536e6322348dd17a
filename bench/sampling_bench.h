// Samples of a graph: how fast they are drawn, and whether training waits for them; and a graph of millions of nodes
// from its eigenvectors to the embeddings of all nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/settings/settings.h"

namespace graphpae::bench {

// A graph with communities and dense features, all drawn at random.
struct SamplingGraph {
  int64_t nodes = 170'000, edges = 1'200'000, features = 128;
};
Graph sampling_graph(const SamplingGraph& size, Threads threads);

struct SamplingBench {
  int64_t nodes = 0, edges = 0;        // directed
  int64_t seeds = 0, reached = 0;      // of a sample
  double sampler = 0, one_thread = 0;  // seeds per second, with all threads and with one
  double straightforward = 0;          // of a sampler with a hash table, one thread
  double make_ms = 0;                  // a sample drawn and gathered by one thread
  double step_ms = 0, without_ms = 0;  // a training step, and one that has its sample already
};
SamplingBench run_sampling_bench(const Graph& graph, const Settings& settings, int steps, Threads threads);

struct LargePart {
  std::string name;
  double seconds;
  int64_t resident, peak;  // bytes of the process after it and at most during it
};
// Graph, eigenvectors, `steps` of training and the embedding of all nodes, written to `output`, below `memory` bytes.
void run_large_bench(const SamplingGraph& size, const Settings& settings, int steps, int64_t memory,
                     const std::string& output, Threads threads, const std::function<void(const LargePart&)>& report);

}  // namespace graphpae::bench
