#include "graphpae/core/edge_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

void check_count(int64_t edges) {
  if (edges > std::numeric_limits<int32_t>::max()) {
    throw data_error(fmt::format("{} directed edges at once; at most {} fit, use batches of nodes", edges,
                                 std::numeric_limits<int32_t>::max()));
  }
}

}  // namespace

EdgeIndex::EdgeIndex(const Adjacency& adjacency, bool with_self_loops) {
  const int64_t n = adjacency.num_nodes();
  int64_t edges = with_self_loops ? n : 0;
  for (int64_t i = 0; i < n; ++i) {
    for (const int32_t j : adjacency.row(i)) edges += j != i;
  }
  check_count(edges);
  offsets_.resize(n + 1);
  sources_.reserve(edges);
  targets_.reserve(edges);
  for (int64_t i = 0; i < n; ++i) {
    bool loop_pending = with_self_loops;
    const auto add = [&](int64_t j) {
      sources_.push_back(static_cast<int32_t>(j));
      targets_.push_back(static_cast<int32_t>(i));
    };
    for (const int32_t j : adjacency.row(i)) {
      if (loop_pending && j >= i) {
        add(i);
        loop_pending = false;
      }
      if (j != i) add(j);
    }
    if (loop_pending) add(i);
    offsets_[i + 1] = static_cast<int64_t>(sources_.size());
  }
  index_edges(true);
}

EdgeIndex EdgeIndex::from_list(std::span<const int32_t> sources, std::span<const int32_t> targets, int64_t num_nodes) {
  const int64_t edges = static_cast<int64_t>(sources.size());
  check_count(edges);
  if (targets.size() != sources.size()) throw data_error("an edge needs a source and a target");
  EdgeIndex index;
  index.offsets_.assign(num_nodes + 1, 0);
  for (int64_t e = 0; e < edges; ++e) {
    for (const int32_t node : {sources[e], targets[e]}) {
      if (node < 0 || node >= num_nodes)
        throw data_error(fmt::format("edge {}: node {} is outside 0..{}", e, node, num_nodes - 1));
    }
    ++index.offsets_[targets[e] + 1];
  }
  std::partial_sum(index.offsets_.begin(), index.offsets_.end(), index.offsets_.begin());
  index.sources_.resize(edges);
  index.targets_.resize(edges);
  Buffer<int64_t> next(index.offsets_.begin(), index.offsets_.end() - 1);
  for (int64_t e = 0; e < edges; ++e) {
    const int64_t place = next[targets[e]]++;
    index.sources_[place] = sources[e];
    index.targets_[place] = targets[e];
  }
  index.index_edges(true);
  return index;
}

EdgeIndex EdgeIndex::from_sample(std::span<const int64_t> offsets, std::span<const int32_t> sources,
                                 int64_t num_nodes) {
  const int64_t edges = offsets.back(), targets = static_cast<int64_t>(offsets.size()) - 1;
  check_count(edges);
  EdgeIndex index;
  index.offsets_.assign(offsets.begin(), offsets.end());
  index.offsets_.resize(static_cast<size_t>(num_nodes + 1), edges);
  index.sources_.assign(sources.begin(), sources.begin() + edges);
  index.targets_.resize(static_cast<size_t>(edges));
  for (int64_t i = 0; i < targets; ++i)
    std::fill(index.targets_.begin() + offsets[i], index.targets_.begin() + offsets[i + 1], static_cast<int32_t>(i));
  index.index_edges(false);
  return index;
}

void EdgeIndex::index_edges(bool both_directions) {
  out_offsets_.assign(num_nodes() + 1, 0);
  for (const int32_t j : sources_) ++out_offsets_[j + 1];
  std::partial_sum(out_offsets_.begin(), out_offsets_.end(), out_offsets_.begin());
  out_edges_.resize(sources_.size());
  Buffer<int64_t> next(out_offsets_.begin(), out_offsets_.end() - 1);
  for (int64_t e = 0; e < num_edges(); ++e) out_edges_[next[sources_[e]]++] = static_cast<int32_t>(e);
  index_pairs(both_directions);
}

// The edges out of a node, and those into it, both sorted by the other end, meet their partners in step.
void EdgeIndex::index_pairs(bool both_directions) {
  pair_of_edge_.assign(sources_.size(), -1);
  const auto add_pair = [&](int32_t forward, int32_t backward) {
    pair_of_edge_[forward] = pair_of_edge_[backward] = static_cast<int32_t>(pair_forward_.size());
    pair_forward_.push_back(forward);
    pair_backward_.push_back(backward);
  };
  Buffer<int32_t> in, out;
  for (int64_t i = 0; i < num_nodes(); ++i) {
    in.clear();
    out.clear();
    for (int64_t e = offsets_[i]; e < offsets_[i + 1]; ++e) {
      if (sources_[e] != i) in.push_back(static_cast<int32_t>(e));
    }
    for (int64_t slot = out_offsets_[i]; slot < out_offsets_[i + 1]; ++slot) {
      if (targets_[out_edges_[slot]] != i) out.push_back(out_edges_[slot]);
    }
    const auto by_source = [&](int32_t a, int32_t b) { return sources_[a] < sources_[b]; };
    if (!std::is_sorted(in.begin(), in.end(), by_source)) std::stable_sort(in.begin(), in.end(), by_source);
    if (both_directions) check_pairs(i, in, out);
    size_t a = 0, b = 0;
    while (a < in.size() || b < out.size()) {
      const int32_t from = a < in.size() ? sources_[in[a]] : std::numeric_limits<int32_t>::max();
      const int32_t to = b < out.size() ? targets_[out[b]] : std::numeric_limits<int32_t>::max();
      const bool has_in = from <= to, has_out = to <= from;
      if (i < std::min(from, to)) add_pair(has_out ? out[b] : in[a], has_in ? in[a] : out[b]);
      a += has_in;
      b += has_out;
    }
  }
  for (int32_t& pair : pair_of_edge_) {
    if (pair < 0) pair = static_cast<int32_t>(pair_forward_.size());
  }
}

void EdgeIndex::check_pairs(int64_t i, const Buffer<int32_t>& in, const Buffer<int32_t>& out) const {
  if (in.size() != out.size()) throw data_error(fmt::format("edges of node {} lack their other direction", i));
  for (size_t k = 0; k < in.size(); ++k) {
    const int32_t j = sources_[in[k]];
    if (targets_[out[k]] != j) throw data_error(fmt::format("edge between {} and {} lacks a direction", i, j));
    if (k > 0 && sources_[in[k - 1]] == j) throw data_error(fmt::format("edge from {} to {} is repeated", j, i));
  }
}

}  // namespace graphpae
