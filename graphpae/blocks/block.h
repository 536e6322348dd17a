// START HERE. A block: a representation that needs no training, one row per node or molecule. Blocks are what
// pre-training must be better than, and what it is put beside.
//
//   of a graph    features, neighbours, adjacency, degree, positions     (blocks/graph_blocks.h)
//   of molecules  morgan, descriptors, atom_pairs                        (blocks/molecule_blocks.h)
//
// `pretrained`, the rows of a model, is made where models are known (run/block_rows.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"

namespace graphpae {

struct Block {
  std::string name;                      // "neighbours"
  std::string about;                     // what its columns are, one line
  std::shared_ptr<const Features> rows;  // [N,D]
  int64_t reduced_from = 0;              // columns before a randomised SVD made them fewer; 0: as they are
  // Columns are directions of a rotation: their sizes mean something, and a probe scales the block as a whole instead
  // of every column.
  bool rotated = false;

  int64_t columns() const { return rows->columns(); }
};

struct BlockOptions {
  int64_t hops = 2;           // neighbours: steps, at least 1
  int64_t eigenvectors = 64;  // positions: columns, as far as there are nodes
  int64_t rank = 512;         // columns of what is too wide, and fewer where memory asks for it
  int64_t fingerprint = 0;    // morgan, atom_pairs: columns that counts are folded into; 0: one for each that occurs
  uint64_t seed = 0;          // of randomised SVDs
  // Values that a block may have: dense ones of more than 1024 columns are reduced above `wide_values`, and any above
  // `most_values`.
  int64_t wide_values = int64_t{1} << 27, most_values = int64_t{1} << 29;
  Threads threads;
};

// Every name a user may give, "pretrained" last.
const std::vector<std::string>& all_block_names();

// The names in a list such as "neighbours,adjacency". Throws a usage error for a name that is not known, which suggests
// the nearest, for one given twice and for an empty list.
std::vector<std::string> parse_block_names(std::string_view list);

}  // namespace graphpae
