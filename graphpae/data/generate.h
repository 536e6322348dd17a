// Synthetic graphs, the same bits for a seed whatever the number of threads.
//
// A node has a community, which says where its neighbours live, and a class (its role), which says what
// they are: with probability `homophily` of its own class, otherwise of the class after it. Features are
// words; some belong to the class, the rest is noise. Degrees are uneven.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/options.h"

namespace graphpae {

struct GenerateOptions {
  int64_t nodes = 2000;
  int64_t edges = 20000;  // drawn; repeats and self loops among them are dropped
  int64_t classes = 5;
  int64_t communities = 20;
  int64_t features = 500;
  int64_t words = 20;  // features drawn per node
  double homophily = 0.15;
  double locality = 0.8;         // probability of a neighbour in the own community
  double signal = 0.25;          // probability that a word belongs to the class
  int64_t small_components = 0;  // further components of 2 to 5 nodes
  int64_t isolated = 0;          // further nodes without edges
  int64_t splits = 10;           // random 48/32/20 splits
  int64_t seed = 0;
};

void declare(OptionTable& table, GenerateOptions& options);

// The kinds, with what each changes: "heterophilic" as above, "homophilic" (homophily 0.8), "structure"
// (no features, labels or splits: for measuring solvers).
std::vector<std::string> generate_kinds();
GenerateOptions generate_defaults(const std::string& kind);  // throws a usage error for an unknown kind

Graph generate(const GenerateOptions& options, Threads threads);

}  // namespace graphpae
