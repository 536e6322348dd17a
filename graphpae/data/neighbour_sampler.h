// NeighbourSampler: the surroundings of a few seed nodes, drawn at random hop after hop.
//
// A node found h hops from the seeds (0: a seed) draws fanout[h] of its neighbours, h < L. The draws of a node depend
// on the generator, the hop and the node only, so any number of threads gives the same sample.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/rng.h"
#include "graphpae/core/threads.h"

namespace graphpae {

struct SamplingOptions {
  std::vector<int64_t> fanout;  // [L] neighbours drawn, 0: all of them
  bool replace = false;         // a neighbour may be drawn more than once; its edge then repeats
};

// Nodes are numbered anew in the order in which they were found: seeds, their neighbours, ...
struct SampledNeighbourhood {
  std::vector<int32_t> nodes;    // [n] what they are in the graph
  std::vector<int64_t> reach;    // [L+1] nodes within h hops of the seeds; reach[0] seeds, reach[L] = n
  std::vector<int64_t> offsets;  // [reach[L-1]+1] edges into node i: offsets[i] .. offsets[i+1]
  std::vector<int32_t> sources;  // [E] of the edges: first the node itself, then what it drew
};

class NeighbourSampler {
 public:
  // `adjacency` must outlive the sampler. Self loops in it are never drawn.
  NeighbourSampler(const Adjacency& adjacency, SamplingOptions options);

  // `seeds` are distinct nodes.
  SampledNeighbourhood sample(std::span<const int32_t> seeds, const Rng& rng, Threads threads);

 private:
  const Adjacency& adjacency_;
  SamplingOptions options_;
  bool has_loops_;               // perhaps
  std::vector<int32_t> number_;  // [N] of a node in the sample at work, -1 for nodes that are not in it
};

}  // namespace graphpae
