#include "graphpae/data/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"
#include "graphpae/core/suggest.h"

namespace graphpae {
namespace {

enum Stream : uint64_t { kClass, kCommunity, kEdge, kWord, kSplit };

// Nodes of each (community, class), in ascending order.
struct Cells {
  int64_t classes;
  std::vector<std::vector<int32_t>> members;
  const std::vector<int32_t>& at(int64_t community, int64_t cls) const { return members[community * classes + cls]; }
};

struct Roles {
  std::vector<int32_t> cls, community;  // [connected nodes]
  Cells cells;
};

Roles assign_roles(const GenerateOptions& options) {
  const Rng rng(options.seed);
  Roles roles;
  roles.cells = {options.classes, std::vector<std::vector<int32_t>>(options.communities * options.classes)};
  for (int64_t node = 0; node < options.nodes; ++node) {
    roles.cls.push_back(static_cast<int32_t>(rng.stream(kClass).below(node, options.classes)));
    roles.community.push_back(static_cast<int32_t>(rng.stream(kCommunity).below(node, options.communities)));
    roles.cells.members[roles.community[node] * options.classes + roles.cls[node]].push_back(
        static_cast<int32_t>(node));
  }
  return roles;
}

// Squaring favours the first members: these become hubs.
int32_t pick(const std::vector<int32_t>& members, double u) {
  return members[static_cast<size_t>(u * u * static_cast<double>(members.size()))];
}

EdgeBlocks draw_edges(const GenerateOptions& options, const Roles& roles, Threads threads) {
  const Rng rng = Rng(options.seed).stream(kEdge);
  constexpr int64_t kBlock = 1 << 18;
  EdgeBlocks blocks((options.edges + kBlock - 1) / kBlock);
  parallel_tasks(threads, static_cast<int64_t>(blocks.size()), [&](int64_t index) {
    const int64_t first = index * kBlock, last = std::min(options.edges, first + kBlock);
    blocks[index].reserve(last - first);
    for (int64_t edge = first; edge < last; ++edge) {
      const uint64_t draw = static_cast<uint64_t>(edge) * 8;
      const int32_t u = static_cast<int32_t>(rng.below(draw, options.nodes));
      const bool local = rng.uniform(draw + 1) < options.locality;
      const bool same = rng.uniform(draw + 2) < options.homophily;
      const int64_t community =
          local ? roles.community[u] : static_cast<int64_t>(rng.below(draw + 3, options.communities));
      const int64_t cls = same ? roles.cls[u] : (roles.cls[u] + 1) % options.classes;
      const std::vector<int32_t>& members = roles.cells.at(community, cls);
      if (!members.empty()) blocks[index].push_back({u, pick(members, rng.uniform(draw + 4))});
    }
  });
  return blocks;
}

Features draw_features(const GenerateOptions& options, const std::vector<int32_t>& cls, int64_t nodes) {
  const Rng rng = Rng(options.seed).stream(kWord);
  std::vector<int64_t> offsets(1, 0);
  std::vector<int32_t> indices;
  const int64_t per_class = std::max<int64_t>(1, options.features / options.classes);
  for (int64_t node = 0; node < nodes; ++node) {
    std::vector<int32_t> words;
    for (int64_t w = 0; w < options.words; ++w) {
      const uint64_t draw = static_cast<uint64_t>(node * options.words + w) * 2;
      const bool of_class = rng.uniform(draw) < options.signal;
      const int64_t word = of_class ? cls[node] * per_class + static_cast<int64_t>(rng.below(draw + 1, per_class))
                                    : static_cast<int64_t>(rng.below(draw + 1, options.features));
      words.push_back(static_cast<int32_t>(word % options.features));
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    indices.insert(indices.end(), words.begin(), words.end());
    offsets.push_back(static_cast<int64_t>(indices.size()));
  }
  std::vector<float> ones(indices.size(), 1.0f);
  return Features::sparse(nodes, options.features, std::move(offsets), std::move(indices), std::move(ones));
}

std::vector<Split> draw_splits(const GenerateOptions& options, int32_t nodes) {
  std::vector<Split> splits;
  for (int64_t s = 0; s < options.splits; ++s) {
    const std::vector<int32_t> order = Rng(options.seed).stream(kSplit + static_cast<uint64_t>(s)).permutation(nodes);
    const auto train = order.begin() + nodes * int64_t{48} / 100, val = order.begin() + nodes * int64_t{80} / 100;
    Split split{{order.begin(), train}, {train, val}, {val, order.end()}};
    for (auto* part : {&split.train, &split.val, &split.test}) std::sort(part->begin(), part->end());
    splits.push_back(std::move(split));
  }
  return splits;
}

}  // namespace

void declare(OptionTable& table, GenerateOptions& options) {
  table.add("nodes", options.nodes, between(1, static_cast<double>(kMaxNodes - 1)), "Generate this many nodes.");
  table.add("edges", options.edges, between(0, 0x1p40),
            "Draw this many edges; repeats and self loops among them are dropped.");
  table.add("classes", options.classes, between(1, 1000), "Give nodes this many classes (roles).");
  table.add("communities", options.communities, between(1, 1e6), "Divide nodes into this many communities.");
  table.add("features", options.features, between(0, 1e6), "Make this many columns of features; 0 means none.");
  table.add("words", options.words, between(1, 1e4), "Draw this many features per node.");
  table.add("homophily", options.homophily, between(0, 1),
            "Choose a neighbour of the own class with this probability.");
  table.add("locality", options.locality, between(0, 1),
            "Choose a neighbour in the own community with this probability.");
  table.add("signal", options.signal, between(0, 1),
            "Choose a feature that belongs to the class with this probability.");
  table.add("small_components", options.small_components, between(0, 1e7), "Add this many components of 2 to 5 nodes.");
  table.add("isolated", options.isolated, between(0, 1e7), "Add this many nodes without edges.");
  table.add("splits", options.splits, between(0, 1000), "Draw this many random 48/32/20 splits.");
  table.add("seed", options.seed, between(0, 0x1p62), "Make every random choice from this seed.");
}

std::vector<std::string> generate_kinds() { return {"heterophilic", "homophilic", "structure"}; }

GenerateOptions generate_defaults(const std::string& kind) {
  GenerateOptions options;
  if (kind == "homophilic") {
    options.homophily = 0.8;
  } else if (kind == "structure") {
    options.features = options.splits = 0;
  } else if (kind != "heterophilic") {
    throw usage_error(fmt::format("unknown kind '{}'{}; the kinds are {}", kind, did_you_mean(kind, generate_kinds()),
                                  fmt::join(generate_kinds(), ", ")));
  }
  return options;
}

Graph generate(const GenerateOptions& options, Threads threads) {
  Roles roles = assign_roles(options);
  GraphParts parts;
  parts.edges = draw_edges(options, roles, threads);
  int64_t next = options.nodes;
  Buffer<Edge> small;
  for (int64_t c = 0; c < options.small_components; ++c) {  // paths of 2, 3, 4, 5, 2, ... nodes
    const int64_t size = 2 + c % 4;
    for (int64_t i = 1; i < size; ++i)
      small.push_back({static_cast<int32_t>(next + i - 1), static_cast<int32_t>(next + i)});
    next += size;
  }
  parts.edges.push_back(std::move(small));
  parts.num_nodes = next + options.isolated;
  if (parts.num_nodes > kMaxNodes) throw usage_error(fmt::format("{} nodes in all are too many", parts.num_nodes));
  if (options.features > 0) {
    const Rng rng = Rng(options.seed).stream(kClass);
    for (int64_t node = options.nodes; node < parts.num_nodes; ++node) {
      roles.cls.push_back(static_cast<int32_t>(rng.below(node, options.classes)));
    }
    parts.features = draw_features(options, roles.cls, parts.num_nodes);
    parts.labels = std::move(roles.cls);
    parts.splits = draw_splits(options, static_cast<int32_t>(parts.num_nodes));
  }
  return Graph(std::move(parts), {}, threads);
}

}  // namespace graphpae
