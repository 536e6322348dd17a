// Structure: what edges alone say of a node, as features for graphs that come without any. No labels, no training.
//
// Each function returns dense rows [N, columns] float32, a pure function of the graph and its arguments: any number of
// threads gives the same bits.
#pragma once

#include <cstdint>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/buffer.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// [N,3] log(1 + d) of the degree d of a node, and mean and deviation of the same over its neighbours; 0 without any.
Buffer<float> degree_rows(const Adjacency& graph, Threads threads = {});

// [N,steps-1] log(p + 1e-3), where p is the probability that a random walk which starts at the node is back after 2, 3,
// ..., `steps` steps. Exact where that takes at most 4e9 additions; otherwise estimated from 256 random vectors, which
// is right to about 9 %. Throws a usage error for fewer than 2 steps.
Buffer<float> walk_rows(const Adjacency& graph, int64_t steps, uint64_t seed, Threads threads = {});

// [N,columns] rows of the adjacency matrix, neighbours weighed by 1/sqrt(degree), times a random matrix of signs: rows
// of nodes with common neighbours are alike. Rows have length 1, or 0 without neighbours. The signs belong to the
// numbers of the nodes: rows of two graphs cannot be compared.
Buffer<float> neighbour_rows(const Adjacency& graph, int64_t columns, uint64_t seed, Threads threads = {});

}  // namespace graphpae
