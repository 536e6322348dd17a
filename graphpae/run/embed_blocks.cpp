// Blocks side by side in a file.
#include <fmt/format.h>

#include <algorithm>

#include "graphpae/blocks/graph_blocks.h"
#include "graphpae/blocks/molecule_blocks.h"
#include "graphpae/blocks/randomised_svd.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/row_files.h"
#include "graphpae/model/representations.h"
#include "graphpae/run/embed.h"

namespace graphpae::run {
namespace {

constexpr int64_t kMostWritten = int64_t{1} << 27;  // values of a sparse block, zeros and all

Block made_block(const Graph& graph, const std::string& name, const BlockOptions& options) {
  return graph_block(graph, name, options);
}
Block made_block(const GraphSet& molecules, const std::string& name, const BlockOptions& options) {
  return molecule_block(molecules, name, options);
}

Features model_rows(Model& model, const Graph& graph, const EmbedOptions& options, const Context& context) {
  check_features(model, graph);
  graphpae::EmbedOptions how;
  how.sampled = options.sampled;
  how.memory = options.memory;
  return embedded_rows(model, prepare(graph, model.settings(), input_options(context, graph, model.settings())), how);
}
Features model_rows(Model& model, const GraphSet& molecules, const EmbedOptions&, const Context& context) {
  check_features(model, molecules);
  return embedded_rows(model,
                       prepare(molecules, model.settings(), input_options(context, molecules, model.settings())));
}

TextColumn names_of(const Graph& graph) { return graph.node_names(); }
TextColumn names_of(const GraphSet& molecules) { return molecule_names(molecules); }

RowIds ids_of(const Graph&) { return {}; }
RowIds ids_of(const GraphSet& molecules) { return {molecules.parts().id_name, molecules.parts().ids}; }

template <class Data>
BlockResult write_blocks(Model* model, const Data& data, const std::vector<std::string>& names,
                         const EmbedOptions& options, const Context& context) {
  constexpr bool of_graph = std::is_same_v<Data, Graph>;
  BlockOptions made;
  made.threads = context.threads;
  if (!of_graph) made.fingerprint = 2048;
  std::vector<Block> blocks;
  BlockResult result;
  for (const std::string& name : names) {
    context.watch.report(
        {"%", 100 * static_cast<int64_t>(blocks.size()) / static_cast<int64_t>(names.size()), 100, 0, name});
    if (name == "pretrained") {
      if (model == nullptr) throw usage_error("block pretrained: it needs a run, and RUN is none");
      blocks.push_back({name, "the rows of the model",
                        std::make_shared<const Features>(model_rows(*model, data, options, context))});
    } else {
      blocks.push_back(made_block(data, name, made));
    }
    Block& block = blocks.back();
    if (block.rows->is_sparse() && block.rows->rows() * block.columns() > kMostWritten) {
      block.reduced_from = block.columns();
      block.rows = std::make_shared<const Features>(leading_columns(*block.rows, made.rank, made.seed, made.threads));
      block.about += fmt::format("; {} leading directions", block.columns());
    }
    result.blocks.push_back({name, block.about, block.columns(), block.reduced_from});
    result.rows = block.rows->rows();
    result.columns += block.columns();
  }
  const int64_t bytes = result.rows * result.columns * static_cast<int64_t>(sizeof(float));
  if (bytes > available_memory())
    throw memory_error(fmt::format("{} rows of {} columns take {:.1f} GB, and {:.1f} GB are free; ask for fewer blocks",
                                   result.rows, result.columns, static_cast<double>(bytes) / 1e9,
                                   static_cast<double>(available_memory()) / 1e9));
  Buffer<float> values(static_cast<size_t>(result.rows * result.columns));
  std::vector<ColumnGroup> groups;
  int64_t first = 0;
  for (const Block& block : blocks) {
    for (int64_t i = 0; i < result.rows; ++i) block.rows->copy_row(i, values.data() + i * result.columns + first);
    first += block.columns();
    groups.push_back({block.name, block.columns()});
  }
  write_embeddings(options.output, values, result.rows, result.columns, names_of(data), of_graph ? "node" : "molecule",
                   ids_of(data), groups);
  return result;
}

}  // namespace

BlockResult embed_blocks(Model* model, const Graph& graph, const std::vector<std::string>& names,
                         const EmbedOptions& options, const Context& context) {
  return write_blocks(model, graph, names, options, context);
}

BlockResult embed_blocks(Model* model, const GraphSet& molecules, const std::vector<std::string>& names,
                         const EmbedOptions& options, const Context& context) {
  return write_blocks(model, molecules, names, options, context);
}

}  // namespace graphpae::run
