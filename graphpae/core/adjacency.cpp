#include "graphpae/core/adjacency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

// Edges are grouped into buckets of consecutive rows, so that all work on a bucket stays in the cache.
// Every bucket is one task: no two threads write the same row, and the result cannot depend on their number.
struct Buckets {
  explicit Buckets(int64_t nodes) : num_nodes(nodes) {
    while (nodes >> shift >= 512) ++shift;
    count = (nodes + (int64_t{1} << shift) - 1) >> shift;
  }
  int64_t of(int32_t node) const { return node >> shift; }
  int64_t first_row(int64_t bucket) const { return bucket << shift; }
  int64_t last_row(int64_t bucket) const { return std::min(num_nodes, (bucket + 1) << shift); }

  int64_t num_nodes;
  int shift = 10;  // 2^shift rows each
  int64_t count;
};

// Pairs in groups, one per bucket: group b is pairs[starts[b]] .. pairs[starts[b + 1] - 1].
struct Grouped {
  std::span<const Edge> group(int64_t bucket) const {
    return {pairs.data() + starts[bucket], static_cast<size_t>(starts[bucket + 1] - starts[bucket])};
  }
  std::span<Edge> pairs;
  std::vector<int64_t> starts;  // [buckets + 1]
};

// A stable counting sort of `from` into `to` by the bucket of `src`.
template <class Pairs>
std::vector<int64_t> group_by_src(const Pairs& from, Edge* to, const Buckets& buckets) {
  std::vector<int64_t> starts(buckets.count + 1, 0);
  for (const Edge& e : from) ++starts[buckets.of(e.src) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<int64_t> next(starts.begin(), starts.end() - 1);
  for (const Edge& e : from) to[next[buckets.of(e.src)]++] = e;
  return starts;
}

// Checks all edges, turns them into pairs src <= dst and groups each piece of at most kPiece by src.
std::vector<Grouped> group_pieces(EdgeBlocks& blocks, const Buckets& buckets, Threads threads) {
  constexpr int64_t kPiece = 1 << 18;
  std::vector<Grouped> pieces;
  std::vector<int64_t> first_edge;  // number of the first edge of each piece, for messages
  int64_t edges = 0;
  for (auto& block : blocks) {
    for (int64_t at = 0; at < static_cast<int64_t>(block.size()); at += kPiece) {
      const int64_t size = std::min(kPiece, static_cast<int64_t>(block.size()) - at);
      pieces.push_back({{block.data() + at, static_cast<size_t>(size)}, {}});
      first_edge.push_back(edges);
      edges += size;
    }
  }
  parallel_tasks(threads, static_cast<int64_t>(pieces.size()), [&](int64_t index) {
    Grouped& piece = pieces[index];
    thread_local Buffer<Edge> ordered;
    ordered.resize(piece.pairs.size());
    for (size_t i = 0; i < piece.pairs.size(); ++i) {
      const Edge e = piece.pairs[i];
      const auto [low, high] = std::minmax(e.src, e.dst);
      if (low < 0 || high >= buckets.num_nodes) {
        throw data_error(fmt::format("edge {}: node {} is outside 0..{}", first_edge[index] + static_cast<int64_t>(i),
                                     low < 0 ? low : high, buckets.num_nodes - 1));
      }
      ordered[i] = {low, high};
    }
    piece.starts = group_by_src(ordered, piece.pairs.data(), buckets);
  });
  return pieces;
}

// Rows of the upper triangle of one bucket: row u holds the v >= u of its edges, ascending and distinct.
struct UpperRows {
  Buffer<int32_t> entries;
  std::vector<int64_t> ends;  // [rows] where each row ends
};

UpperRows upper_rows(const std::vector<Grouped>& pieces, int64_t bucket, const Buckets& buckets,
                     const EdgeOptions& options) {
  const int64_t first = buckets.first_row(bucket), rows = buckets.last_row(bucket) - first;
  std::vector<int64_t> begin(rows + 1, 0);
  for (const Grouped& piece : pieces) {
    for (const Edge& e : piece.group(bucket)) ++begin[e.src - first + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  thread_local Buffer<int32_t> scattered;
  scattered.resize(begin.back());
  std::vector<int64_t> next(begin.begin(), begin.end() - 1);
  for (const Grouped& piece : pieces) {
    for (const Edge& e : piece.group(bucket)) scattered[next[e.src - first]++] = e.dst;
  }
  UpperRows upper;
  int64_t kept = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int32_t* start = scattered.data() + begin[row];
    int32_t* end = scattered.data() + begin[row + 1];
    std::sort(start, end);
    int32_t* distinct = std::unique(start, end);
    if (distinct != end && options.repeats == Repeats::refuse) {
      throw data_error(fmt::format("an edge of node {} is given more than once", first + row));
    }
    if (start != distinct && *start == first + row && options.self_loops == SelfLoops::refuse) {
      throw data_error(fmt::format("node {} has a self loop", first + row));
    }
    std::copy(start, distinct, scattered.data() + kept);
    kept += distinct - start;
    upper.ends.push_back(kept);
  }
  upper.entries.assign(scattered.begin(), scattered.begin() + kept);
  return upper;
}

// The same edges from their upper end: pairs (v, u) with u < v, grouped by v; inside a group u ascends.
struct LowerPairs {
  Buffer<Edge> storage;
  Grouped grouped;
  int64_t self_loops = 0;
};

LowerPairs lower_pairs(const UpperRows& upper, int64_t bucket, const Buckets& buckets) {
  thread_local Buffer<Edge> pairs;
  pairs.clear();
  LowerPairs lower;
  int32_t u = static_cast<int32_t>(buckets.first_row(bucket));
  int64_t at = 0;
  for (const int64_t end : upper.ends) {
    for (; at < end; ++at) {
      if (upper.entries[at] == u) {
        ++lower.self_loops;
      } else {
        pairs.push_back({upper.entries[at], u});
      }
    }
    ++u;
  }
  lower.storage.resize(pairs.size());
  lower.grouped.starts = group_by_src(pairs, lower.storage.data(), buckets);
  lower.grouped.pairs = lower.storage;
  return lower;
}

}  // namespace

int64_t count_edges(const EdgeBlocks& blocks) {
  int64_t count = 0;
  for (const auto& block : blocks) count += static_cast<int64_t>(block.size());
  return count;
}

Adjacency Adjacency::from_edges(EdgeBlocks blocks, int64_t num_nodes, const EdgeOptions& options, Threads threads) {
  if (num_nodes > kMaxNodes) throw data_error(fmt::format("{} nodes are more than the 2^31 supported", num_nodes));
  const Buckets buckets(num_nodes);
  std::vector<UpperRows> upper(buckets.count);
  {
    const std::vector<Grouped> pieces = group_pieces(blocks, buckets, threads);
    parallel_tasks(threads, buckets.count,
                   [&](int64_t bucket) { upper[bucket] = upper_rows(pieces, bucket, buckets, options); });
    EdgeBlocks().swap(blocks);
  }
  std::vector<LowerPairs> lower(buckets.count);
  parallel_tasks(threads, buckets.count,
                 [&](int64_t bucket) { lower[bucket] = lower_pairs(upper[bucket], bucket, buckets); });

  Adjacency result;
  for (const LowerPairs& part : lower) {
    result.num_edges_ += static_cast<int64_t>(part.storage.size());
    result.num_self_loops_ += part.self_loops;
  }
  // The part of an upper row that is stored.
  const auto stored_row = [&](int64_t bucket, int64_t u) {
    const UpperRows& rows = upper[bucket];
    const int64_t row = u - buckets.first_row(bucket), begin = row == 0 ? 0 : rows.ends[row - 1];
    const std::span<const int32_t> entries(rows.entries.data() + begin, static_cast<size_t>(rows.ends[row] - begin));
    const bool skip = options.self_loops != SelfLoops::keep && !entries.empty() && entries.front() == u;
    return skip ? entries.subspan(1) : entries;
  };

  Buffer<int64_t>& offsets = result.offsets_;
  offsets.assign(num_nodes + 1, 0);
  parallel_tasks(threads, buckets.count, [&](int64_t bucket) {
    for (int64_t source = 0; source <= bucket; ++source) {
      for (const Edge& e : lower[source].grouped.group(bucket)) ++offsets[e.src + 1];
    }
    for (int64_t u = buckets.first_row(bucket); u < buckets.last_row(bucket); ++u) {
      offsets[u + 1] += static_cast<int64_t>(stored_row(bucket, u).size());
    }
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());

  // Lower neighbours arrive in ascending order, then the row's own upper part follows: every row comes out
  // sorted without sorting.
  result.neighbours_.resize(offsets.back());
  parallel_tasks(threads, buckets.count, [&](int64_t bucket) {
    const int64_t first = buckets.first_row(bucket), last = buckets.last_row(bucket);
    std::vector<int64_t> next(offsets.begin() + first, offsets.begin() + last);
    for (int64_t source = 0; source <= bucket; ++source) {
      for (const Edge& e : lower[source].grouped.group(bucket)) result.neighbours_[next[e.src - first]++] = e.dst;
    }
    for (int64_t u = first; u < last; ++u) {
      const auto row = stored_row(bucket, u);
      std::copy(row.begin(), row.end(), result.neighbours_.begin() + next[u - first]);
    }
    upper[bucket] = {};
  });
  return result;
}

Adjacency Adjacency::from_edges(std::span<const Edge> edges, int64_t num_nodes, const EdgeOptions& options,
                                Threads threads) {
  EdgeBlocks blocks(1);
  blocks[0].assign(edges.begin(), edges.end());
  return from_edges(std::move(blocks), num_nodes, options, threads);
}

void Adjacency::set_weights(Buffer<float> weights) {
  if (!weights.empty() && weights.size() != neighbours_.size())
    throw data_error(fmt::format("{} weights were found for {} directed edges", weights.size(), neighbours_.size()));
  for (const float weight : weights) {
    if (!std::isfinite(weight)) throw data_error(fmt::format("the weight {} of an edge is not finite", weight));
  }
  weights_ = std::move(weights);
}

Components connected_components(const GraphView& graph) {
  const int64_t n = graph.num_nodes();
  Components components;
  components.of_node.assign(n, -1);
  std::vector<int32_t> queue;
  for (int64_t start = 0; start < n; ++start) {
    if (components.of_node[start] >= 0) continue;
    const int32_t id = static_cast<int32_t>(components.sizes.size());
    queue.assign(1, static_cast<int32_t>(start));
    components.of_node[start] = id;
    for (size_t next = 0; next < queue.size(); ++next) {
      for (const int32_t v : graph.row(queue[next])) {
        if (components.of_node[v] >= 0) continue;
        components.of_node[v] = id;
        queue.push_back(v);
      }
    }
    components.sizes.push_back(static_cast<int64_t>(queue.size()));
  }
  return components;
}

}  // namespace graphpae
