#include "graphpae/data/neighbour_sampler.h"

#include <algorithm>

#include "graphpae/core/buffer.h"

namespace graphpae {
namespace {

// `count` of 0 .. n-1, ascending, each once (Floyd 1987); few at a time, so a list is searched faster than a table.
void draw_distinct(const Rng& rng, uint64_t index, int64_t n, int64_t count, int32_t* out) {
  for (int64_t k = 0; k < count; ++k) {
    const int64_t last = n - count + k;
    const auto drawn =
        static_cast<int32_t>(rng.below(index + static_cast<uint64_t>(k), static_cast<uint64_t>(last + 1)));
    int32_t* place = std::lower_bound(out, out + k, drawn);
    if (place != out + k && *place == drawn) {
      out[k] = static_cast<int32_t>(last);  // the largest so far
    } else {
      std::copy_backward(place, out + k, out + k + 1);
      *place = drawn;
    }
  }
}

}  // namespace

NeighbourSampler::NeighbourSampler(const Adjacency& adjacency, SamplingOptions options)
    : adjacency_(adjacency), options_(std::move(options)), number_(static_cast<size_t>(adjacency.num_nodes()), -1) {}

SampledNeighbourhood NeighbourSampler::sample(std::span<const int32_t> seeds, const Rng& rng, Threads threads) {
  SampledNeighbourhood sample;
  sample.nodes.assign(seeds.begin(), seeds.end());
  sample.reach = {static_cast<int64_t>(seeds.size())};
  sample.offsets = {0};
  for (size_t s = 0; s < seeds.size(); ++s) number_[seeds[s]] = static_cast<int32_t>(s);

  Buffer<int32_t> drawn;  // nodes of the graph
  int64_t first = 0;
  for (size_t hop = 0; hop < options_.fanout.size(); ++hop) {
    const int64_t fanout = options_.fanout[hop], last = sample.reach.back();
    const auto count_of = [&](int64_t degree) {
      if (fanout == 0) return degree;
      return options_.replace ? (degree > 0 ? fanout : 0) : std::min(fanout, degree);
    };
    // The node itself and what it draws, in the places that are its own.
    for (int64_t i = first; i < last; ++i)
      sample.offsets.push_back(sample.offsets.back() + 1 + count_of(adjacency_.degree(sample.nodes[i])));
    const int64_t before = sample.offsets[first];
    drawn.resize(static_cast<size_t>(sample.offsets[last] - before));
    const Rng draws = Rng(rng.bits(hop));
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads.count)
    for (int64_t i = first; i < last; ++i) {
      const int32_t node = sample.nodes[i];
      const std::span<const int32_t> neighbours = adjacency_.row(node);
      const int64_t degree = adjacency_.degree(node), count = count_of(degree);
      int32_t* out = drawn.data() + sample.offsets[i] - before;
      *out++ = node;
      const uint64_t index = static_cast<uint64_t>(node) << 32;
      if (count == degree && !(options_.replace && fanout > 0)) {
        std::copy(neighbours.begin(), neighbours.end(), out);
        continue;
      }
      if (options_.replace) {
        for (int64_t k = 0; k < count; ++k)
          out[k] = static_cast<int32_t>(draws.below(index + static_cast<uint64_t>(k), static_cast<uint64_t>(degree)));
      } else {
        draw_distinct(draws, index, degree, count, out);
      }
      for (int64_t k = 0; k < count; ++k) out[k] = neighbours[out[k]];
    }
    for (const int32_t node : drawn) {
      if (number_[node] < 0) {
        number_[node] = static_cast<int32_t>(sample.nodes.size());
        sample.nodes.push_back(node);
      }
      sample.sources.push_back(number_[node]);
    }
    first = last;
    sample.reach.push_back(static_cast<int64_t>(sample.nodes.size()));
  }
  for (const int32_t node : sample.nodes) number_[node] = -1;
  return sample;
}

}  // namespace graphpae
