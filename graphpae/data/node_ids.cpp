#include "graphpae/data/node_ids.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

// The distinct ids of edges and rows, ascending.
std::vector<int64_t> ids_in_use(const EdgeList& list, const NodeEvidence& evidence) {
  std::vector<int64_t> ids(evidence.keys);
  const bool dense = list.num_nodes <= 4 * count_edges(list.blocks) + 1024;
  if (dense) {  // a flag per place is less than a list of ends
    std::vector<bool> used(static_cast<size_t>(list.num_nodes));
    for (const auto& block : list.blocks) {
      for (const Edge& edge : block) used[edge.src] = used[edge.dst] = true;
    }
    for (int64_t id = 0; id < list.num_nodes; ++id) {
      if (used[id]) ids.push_back(id);
    }
  } else {
    for (const auto& block : list.blocks) {
      for (const Edge& edge : block) {
        ids.push_back(edge.src);
        ids.push_back(edge.dst);
      }
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

void move_to_zero(EdgeList& list, int64_t count) {
  for (auto& block : list.blocks) {
    for (Edge& edge : block) {
      --edge.src;
      --edge.dst;
    }
  }
  list.num_nodes = count;
  for (int64_t id = 1; id <= count; ++id) list.names.push_back(std::to_string(id));
}

void make_names(EdgeList& list, const std::vector<int64_t>& ids) {
  const auto place = [&](int32_t id) {
    return static_cast<int32_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  };
  for (auto& block : list.blocks) {
    for (Edge& edge : block) edge = {place(edge.src), place(edge.dst)};
  }
  list.num_nodes = static_cast<int64_t>(ids.size());
  for (const int64_t id : ids) list.names.push_back(std::to_string(id));
}

}  // namespace

void check_largest_id(const EdgeList& list, const std::string& path) {
  const int64_t edges = count_edges(list.blocks);
  if (!list.names.empty() || list.num_nodes <= 64 * edges + 1'000'000) return;
  throw data_error(fmt::format("{}: node number {} is too large for {} edges (if ids are names, say --ids names)", path,
                               list.num_nodes - 1, edges));
}

void settle_ids(EdgeList& list, const NodeEvidence& evidence, int64_t base) {
  const std::vector<int64_t> ids = ids_in_use(list, evidence);
  if (ids.empty()) return;
  const int64_t smallest = ids.front(), largest = ids.back(), used = static_cast<int64_t>(ids.size());
  const auto note = [&](const std::string& text) { list.notes.push_back(list.columns.file + ": " + text); };
  const auto say = [&](const std::string& how) {
    for (auto& [role, text] : list.columns.uses) {
      if (role == "ids") text = how;
    }
  };
  const auto places_from_1 = [&](int64_t count) {
    move_to_zero(list, count);
    say("numbers from 1");
  };
  if (base == 1) {
    if (smallest < 1) throw data_error(fmt::format("{}: node {} contradicts --base 1", list.columns.file, smallest));
    return places_from_1(std::max(largest, evidence.rows));
  }
  const int64_t rows = evidence.rows >= 0 ? evidence.rows : list.announced_nodes;
  const std::string rows_of = evidence.rows >= 0 ? "rows of " + evidence.rows_of : "nodes announced";
  if (base < 0 && rows >= 0) {
    if (smallest >= 1 && largest == rows) {
      note(fmt::format("ids 1 to {} are places from 1, as many as {}", largest, rows_of));
      return places_from_1(largest);
    }
    if (smallest == 1 && largest < rows && evidence.rows >= 0)
      note(fmt::format("ids go from 1 to {} for {} {}: they are taken as places from 0; --base 1 counts from 1",
                       largest, rows, rows_of));
  }
  if (base == 0 || evidence.rows >= 0 || (rows > largest && smallest == 0)) {
    list.num_nodes = std::max({list.num_nodes, evidence.rows >= 0 ? 0 : rows, largest + 1});
    return say("numbers from 0");
  }
  const int64_t places = largest + 1 - std::min<int64_t>(smallest, 1);
  if (smallest <= 1 && used * 2 >= places) {
    if (smallest == 0) {
      list.num_nodes = largest + 1;
      return say("numbers from 0");
    }
    note(fmt::format("ids go from 1 to {} and are places from 1, so that there is no node 0; --base 0 makes one",
                     largest));
    return places_from_1(largest);
  }
  note(
      fmt::format("ids go up to {}, but {} of them are used: they are names, in ascending order; --ids numbers takes "
                  "them as places",
                  largest, used));
  make_names(list, ids);
  say("names");
}

}  // namespace graphpae
