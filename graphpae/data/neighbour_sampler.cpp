#include "graphpae/data/neighbour_sampler.h"

#include <algorithm>
#include <numeric>

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

// The neighbours of a node without itself.
class Neighbours {
 public:
  Neighbours(const Adjacency& adjacency, int32_t node, bool may_have_loop) : row_(adjacency.row(node)) {
    if (!may_have_loop) return;
    const auto place = std::lower_bound(row_.begin(), row_.end(), node);
    if (place != row_.end() && *place == node) loop_ = place - row_.begin();
  }
  int64_t size() const { return static_cast<int64_t>(row_.size()) - (loop_ >= 0); }
  int32_t operator[](int64_t k) const { return row_[static_cast<size_t>(k + (loop_ >= 0 && k >= loop_))]; }

 private:
  std::span<const int32_t> row_;
  int64_t loop_ = -1;  // where the node itself is among them
};

}  // namespace

NeighbourSampler::NeighbourSampler(const Adjacency& adjacency, SamplingOptions options)
    : adjacency_(adjacency),
      options_(std::move(options)),
      has_loops_(adjacency.num_self_loops() > 0),
      number_(static_cast<size_t>(adjacency.num_nodes()), -1) {}

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
    const auto neighbours_of = [&](int64_t i) { return Neighbours(adjacency_, sample.nodes[i], has_loops_); };
    const auto count_of = [&](int64_t degree) {
      if (fanout == 0) return degree;
      return options_.replace ? (degree > 0 ? fanout : 0) : std::min(fanout, degree);
    };
    // The node itself and what it draws, in the places that are its own.
    for (int64_t i = first; i < last; ++i)
      sample.offsets.push_back(sample.offsets.back() + 1 + count_of(neighbours_of(i).size()));
    const int64_t before = sample.offsets[first];
    drawn.resize(static_cast<size_t>(sample.offsets[last] - before));
    const Rng draws = Rng(rng.bits(hop));
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads.count)
    for (int64_t i = first; i < last; ++i) {
      const Neighbours neighbours = neighbours_of(i);
      const int64_t degree = neighbours.size(), count = count_of(degree);
      int32_t* out = drawn.data() + sample.offsets[i] - before;
      *out++ = sample.nodes[i];
      const uint64_t index = static_cast<uint64_t>(sample.nodes[i]) << 32;
      if (options_.replace && fanout > 0) {
        for (int64_t k = 0; k < count; ++k)
          out[k] = static_cast<int32_t>(draws.below(index + static_cast<uint64_t>(k), static_cast<uint64_t>(degree)));
      } else if (count == degree) {
        std::iota(out, out + count, 0);
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
