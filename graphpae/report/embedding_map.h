// EmbeddingMap: representations of nodes or molecules as points of a plane, and a small file that holds them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// Of n points, a sample of `total` rows if there are more than a page can hold.
struct EmbeddingMap {
  std::string kind = "node";  // what a point is: "node", "molecule"
  int64_t total = 0;
  std::vector<std::string> ids;  // [n] names of nodes, SMILES of molecules
  std::string grouped_by;        // "class", the name of a target
  std::vector<std::string> groups;
  bool ordered = false;        // groups are ranges of a number, ascending
  std::vector<int32_t> group;  // [n] places in `groups`
  struct Projection {
    std::string name, note;    // "t-SNE", one line about it
    std::vector<double> x, y;  // [n]
  };
  std::vector<Projection> projections;
  std::vector<std::string> drawings;  // [n] SVG, "" where there was no room; or none at all
  std::vector<std::string> notes;     // for the reader, one line each

  bool sampled() const { return static_cast<int64_t>(ids.size()) < total; }
};

void write_map(const std::string& path, const EmbeddingMap& map);
// Throws a data error if the file is not such a map, or of a newer form.
EmbeddingMap read_map(const std::string& path);

// From representations to a map: a sample of rows, projected to a plane in two ways.
struct MapOptions {
  int64_t points = 4000;              // at most
  int64_t drawing_bytes = 2'000'000;  // of all structures together
  uint64_t seed = 0;                  // of the sample
  Threads threads;
  std::function<void(int64_t done, int64_t total)> progress;
};

// rows [N,D] of the nodes of a graph, by class; or [G,D] of molecules, by the first target: its classes, or five ranges
// with as many molecules each. Molecules without atoms are left out.
EmbeddingMap make_map(const Features& rows, const Graph& graph, const MapOptions& options);
EmbeddingMap make_map(const Features& rows, const GraphSet& molecules, const MapOptions& options);

}  // namespace graphpae
