#include "graphpae/core/adjacency.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

// Each task owns a range of rows and reads all edges, so no two threads write the same row and the
// result cannot depend on their number. Reading again is cheap next to the scattered writes.
constexpr int kMaxOwners = 8;

void check_range(const EdgeBlocks& blocks, int64_t num_nodes) {
  int64_t edge = 0;
  for (const auto& block : blocks) {
    for (const Edge& e : block) {
      for (const int64_t node : {e.src, e.dst}) {
        if (node < 0 || node >= num_nodes) {
          throw data_error(fmt::format("edge {}: node {} is outside 0..{}", edge, node, num_nodes - 1));
        }
      }
      ++edge;
    }
  }
}

// Turns counts[i + 1] into offsets: counts[0] = 0, counts[i] = sum of the counts before i.
void accumulate_counts(Buffer<int64_t>& counts) { std::partial_sum(counts.begin(), counts.end(), counts.begin()); }

// Row boundaries that give each of `owners` about the same number of entries.
std::vector<int64_t> balanced_rows(const Buffer<int64_t>& offsets, int owners) {
  std::vector<int64_t> bounds;
  for (int owner = 0; owner <= owners; ++owner) {
    const int64_t target = offsets.back() * owner / owners;
    bounds.push_back(std::lower_bound(offsets.begin(), offsets.end(), target) - offsets.begin());
  }
  bounds.front() = 0;
  bounds.back() = static_cast<int64_t>(offsets.size()) - 1;
  return bounds;
}

// The rows of the upper triangle: row u holds the v >= u of its edges, ascending and distinct.
struct UpperTriangle {
  Buffer<int64_t> begin;    // [N+1] where each row starts
  Buffer<int64_t> length;   // [N] how many entries are distinct
  Buffer<int32_t> entries;  // [begin[N]]
};

UpperTriangle upper_triangle(EdgeBlocks blocks, int64_t num_nodes, const EdgeOptions& options, Threads threads) {
  const int owners = std::min(threads.count, kMaxOwners);
  UpperTriangle upper;
  upper.begin.assign(num_nodes + 1, 0);
  parallel_tasks(threads, owners, [&](int64_t owner) {
    const auto [first, last] = part_of(num_nodes, owner, owners);
    for (const auto& block : blocks) {
      for (const Edge& e : block) {
        const int32_t row = std::min(e.src, e.dst);
        if (row >= first && row < last) ++upper.begin[row + 1];
      }
    }
  });
  accumulate_counts(upper.begin);

  upper.length.assign(num_nodes, 0);
  upper.entries.resize(upper.begin.back());
  const std::vector<int64_t> bounds = balanced_rows(upper.begin, owners);
  parallel_tasks(threads, owners, [&](int64_t owner) {
    const int64_t first = bounds[owner], last = bounds[owner + 1];
    for (const auto& block : blocks) {
      for (const Edge& e : block) {
        const int32_t row = std::min(e.src, e.dst);
        if (row >= first && row < last) upper.entries[upper.begin[row] + upper.length[row]++] = std::max(e.src, e.dst);
      }
    }
  });
  blocks.clear();
  blocks.shrink_to_fit();

  constexpr int64_t kRowsPerTask = 1 << 14;
  parallel_tasks(threads, (num_nodes + kRowsPerTask - 1) / kRowsPerTask, [&](int64_t task) {
    const int64_t last = std::min(num_nodes, (task + 1) * kRowsPerTask);
    for (int64_t u = task * kRowsPerTask; u < last; ++u) {
      int32_t* row = upper.entries.data() + upper.begin[u];
      int32_t* end = row + upper.length[u];
      std::sort(row, end);
      int32_t* distinct = std::unique(row, end);
      if (options.repeats == Repeats::refuse && distinct != end) {
        throw data_error(fmt::format("an edge of node {} is given more than once", u));
      }
      upper.length[u] = distinct - row;
    }
  });
  return upper;
}

}  // namespace

int64_t count_edges(const EdgeBlocks& blocks) {
  int64_t count = 0;
  for (const auto& block : blocks) count += static_cast<int64_t>(block.size());
  return count;
}

Adjacency Adjacency::from_edges(EdgeBlocks blocks, int64_t num_nodes, const EdgeOptions& options, Threads threads) {
  if (num_nodes > kMaxNodes) throw data_error(fmt::format("{} nodes are more than the 2^31 supported", num_nodes));
  check_range(blocks, num_nodes);
  UpperTriangle upper = upper_triangle(std::move(blocks), num_nodes, options, threads);

  // Self loops stand first in their rows of the triangle.
  Adjacency result;
  const bool keep = options.self_loops == SelfLoops::keep;
  for (int64_t u = 0; u < num_nodes; ++u) {
    if (upper.length[u] > 0 && upper.entries[upper.begin[u]] == u) {
      if (options.self_loops == SelfLoops::refuse) throw data_error(fmt::format("node {} has a self loop", u));
      ++result.num_self_loops_;
    }
    result.num_edges_ += upper.length[u];
  }
  result.num_edges_ -= result.num_self_loops_;
  const auto row_of = [&](int64_t u) {
    const std::span<const int32_t> row(upper.entries.data() + upper.begin[u], upper.length[u]);
    return !keep && !row.empty() && row.front() == u ? row.subspan(1) : row;
  };

  const int owners = std::min(threads.count, kMaxOwners);
  Buffer<int64_t>& offsets = result.offsets_;
  offsets.assign(num_nodes + 1, 0);
  parallel_tasks(threads, owners, [&](int64_t owner) {
    const auto [first, last] = part_of(num_nodes, owner, owners);
    for (int64_t u = 0; u < last; ++u) {
      const auto row = row_of(u);
      if (u >= first) offsets[u + 1] += static_cast<int64_t>(row.size());
      for (auto v = std::lower_bound(row.begin(), row.end(), std::max(u + 1, first)); v != row.end() && *v < last;
           ++v) {
        ++offsets[*v + 1];
      }
    }
  });
  accumulate_counts(offsets);

  // Lower neighbours arrive in ascending order of u, then the row's own upper part follows: every row
  // comes out sorted without sorting.
  result.neighbours_.resize(offsets.back());
  const std::vector<int64_t> bounds = balanced_rows(offsets, owners);
  Buffer<int64_t> filled(offsets.begin(), offsets.end() - 1);
  parallel_tasks(threads, owners, [&](int64_t owner) {
    const int64_t first = bounds[owner], last = bounds[owner + 1];
    for (int64_t u = 0; u < last; ++u) {
      const auto row = row_of(u);
      for (auto v = std::lower_bound(row.begin(), row.end(), std::max(u + 1, first)); v != row.end() && *v < last;
           ++v) {
        result.neighbours_[filled[*v]++] = static_cast<int32_t>(u);
      }
      if (u >= first) std::copy(row.begin(), row.end(), result.neighbours_.begin() + filled[u]);
    }
  });
  return result;
}

Adjacency Adjacency::from_edges(std::span<const Edge> edges, int64_t num_nodes, const EdgeOptions& options,
                                Threads threads) {
  EdgeBlocks blocks(1);
  blocks[0].assign(edges.begin(), edges.end());
  return from_edges(std::move(blocks), num_nodes, options, threads);
}

Components connected_components(const Adjacency& adjacency) {
  const int64_t n = adjacency.num_nodes();
  Components components;
  components.of_node.assign(n, -1);
  std::vector<int32_t> queue;
  for (int64_t start = 0; start < n; ++start) {
    if (components.of_node[start] >= 0) continue;
    const int32_t id = static_cast<int32_t>(components.sizes.size());
    queue.assign(1, static_cast<int32_t>(start));
    components.of_node[start] = id;
    for (size_t next = 0; next < queue.size(); ++next) {
      for (const int32_t v : adjacency.row(queue[next])) {
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
