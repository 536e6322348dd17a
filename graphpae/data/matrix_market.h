// MatrixMarket coordinate files (.mtx[.gz]): a square sparse matrix whose entries are edges.
#pragma once

#include <string>

#include "graphpae/core/graph.h"

namespace graphpae {

GraphParts read_matrix_market(const std::string& path, Threads threads);

}  // namespace graphpae
