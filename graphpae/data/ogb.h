// OGB csv directories as they are published: raw/edge.csv.gz, raw/num-node-list.csv.gz, ... with
// split/<name>/{train,valid,test}.csv.gz; one graph with node labels, or many graphs with graph labels.
#pragma once

#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/data/molecules.h"

namespace graphpae {

bool is_ogb(const std::string& directory);
bool is_ogb_node_level(const std::string& directory);

// `year_classes` > 0 replaces the labels by that many equally filled ranges of raw/node_year.csv.gz (the
// arXiv-year task).
GraphParts read_ogb_nodes(const std::string& directory, int64_t year_classes, Threads threads);
// With the texts of mapping/mol.csv.gz if it is there.
MoleculeRows read_ogb_graphs(const std::string& directory, Threads threads);

}  // namespace graphpae
