// Embedding as a verb: a file with one row per node or molecule, in the order of the data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/run/context.h"
#include "graphpae/run/models.h"

namespace graphpae::run {

struct EmbedOptions {
  std::string output;    // .npy .npz .csv .tsv (io/row_files.h)
  bool sampled = false;  // of nodes: as released for models trained on samples, instead of exactly
  int64_t memory = 0;    // of nodes: bytes that may be resident, larger graphs go layer by layer; 0: what is there
};

struct EmbedResult {
  int64_t rows = 0, columns = 0;
};

// Throws a usage error for options that do not fit the model or the data, a data error if the data are not described
// as those the model was trained on, and what writing throws, which begins with the name of the output.
EmbedResult embed(Model& model, const Graph& graph, const EmbedOptions& options, const Context& context = {});
EmbedResult embed(Model& model, const GraphSet& molecules, const EmbedOptions& options, const Context& context = {});

// Several blocks side by side (blocks/block.h), "pretrained" among them only with a model; others may be null. Blocks
// of sparse rows too wide to be written are reduced to their leading directions.
struct EmbeddedBlock {
  std::string name, about;
  int64_t columns = 0, reduced_from = 0;  // 0: as it is
};
struct BlockResult : EmbedResult {
  std::vector<EmbeddedBlock> blocks;
};

// Throws a usage error for a block that the data do not have, for "pretrained" without a model and for options of the
// model alone, a data error for rows that do not fit into memory, and what embed() throws.
BlockResult embed_blocks(Model* model, const Graph& graph, const std::vector<std::string>& names,
                         const EmbedOptions& options, const Context& context = {});
BlockResult embed_blocks(Model* model, const GraphSet& molecules, const std::vector<std::string>& names,
                         const EmbedOptions& options, const Context& context = {});

}  // namespace graphpae::run
