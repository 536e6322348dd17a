// What was read, in numbers: the content of `graphpae info`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"

namespace graphpae {

// Twins: nodes that cannot be told apart, because they share their feature row and their neighbourhood. A twin in the
// training part gives away the label of one in the test part.
struct Twins {
  std::vector<int32_t> group;  // [N] a number shared by twins, -1 for a node without any
  int64_t groups = 0;
  int64_t nodes = 0;  // nodes with at least one twin
};

// Nodes without edges all look alike and are not counted.
Twins find_twins(const Graph& graph);

// The test nodes of a split with a twin in its training part, in the order of the test part.
std::vector<int32_t> twins_of_trained(const Twins& twins, const Split& split);

struct Duplicates {
  int64_t nodes = 0;  // nodes with at least one twin
  int64_t groups = 0;
  int64_t test_in_train = 0;  // test nodes with a twin in train, in the first split
};

struct GraphSummary {
  int64_t nodes = 0, edges = 0, self_loops = 0, edge_rows = 0;
  int64_t features = 0, feature_nonzeros = 0, feature_empty_rows = 0;
  bool features_sparse = false;
  int64_t classes = 0, unlabelled = 0;
  std::vector<int64_t> class_sizes;
  std::vector<std::array<int64_t, 3>> split_sizes;  // train, val, test
  int64_t components = 0, largest_component = 0, isolated = 0;
  int64_t min_degree = 0, max_degree = 0;
  double mean_degree = 0;
  bool weighted = false;  // the next four are of undirected edges
  double min_weight = 0, mean_weight = 0, max_weight = 0;
  int64_t negative_weights = 0;
  bool directed = false;
  int64_t directed_edges = 0, reciprocal_edges = 0;  // without repeats; those that have their opposite
  std::optional<double> edge_homophily;              // share of edges with equal labels among those with both labelled
  Duplicates duplicates;
};

struct TaskSummary {
  std::string name;
  int64_t present = 0;
  bool binary = false;    // all values are 0 or 1
  int64_t positives = 0;  // if binary
  double mean = 0, deviation = 0;
};

struct GraphSetSummary {
  int64_t molecules = 0;
  std::vector<TaskSummary> tasks;
  std::vector<std::array<int64_t, 3>> split_sizes;
  bool has_texts = false;      // SMILES or mol blocks: the graphs are molecules
  int64_t repeated_texts = 0;  // rows whose text repeats an earlier row
  bool has_structure = false;  // the rest needs it
  int64_t nodes = 0, edges = 0;
  int64_t without_nodes = 0;  // rows kept although they are not molecules: not in the smallest size and the means
  int64_t min_nodes = 0, max_nodes = 0;
  int64_t fragmented = 0, single_node = 0;
  int64_t node_code_columns = 0, edge_code_columns = 0;
  double mean_nodes = 0, mean_edges = 0;
};

enum class CountDuplicates { no, yes };  // on large graphs they take as long as all the rest
GraphSummary summarise(const Graph& graph, CountDuplicates duplicates = CountDuplicates::yes);
GraphSetSummary summarise(const GraphSet& set);

// SHA-256 over what was read: structure, weights and directions of edges, features, labels and, if asked for, splits.
// It does not depend on the kind of file, nor on whether features were stored sparse or dense.
enum class HashSplits { no, yes };
std::string content_hash(const Graph& graph, HashSplits splits = HashSplits::yes);
std::string content_hash(const GraphSet& set, HashSplits splits = HashSplits::yes);

}  // namespace graphpae
