#include "graphpae/run/embed.h"

#include <torch/torch.h>

#include "graphpae/core/error.h"
#include "graphpae/io/row_files.h"
#include "graphpae/model/embed.h"

namespace graphpae::run {
namespace {

EmbedResult write_rows(const std::string& path, const torch::Tensor& rows, const TextColumn& names,
                       const std::string& row_name, const RowIds& ids = {}) {
  const torch::Tensor values = rows.contiguous();
  write_embeddings(path, {values.data_ptr<float>(), static_cast<size_t>(values.numel())}, values.size(0),
                   values.size(1), names, row_name, ids);
  return {values.size(0), values.size(1)};
}

}  // namespace

EmbedResult embed(Model& model, const Graph& graph, const EmbedOptions& options, const Context& context) {
  const Settings& settings = model.settings();
  if (options.sampled && settings.batch_size == 0)
    throw usage_error("--inference sampled: the model was trained on whole graphs");
  graphpae::EmbedOptions how;
  how.sampled = options.sampled;
  how.memory = options.memory;
  how.progress = [&](int64_t done, int64_t total) { context.watch.report({"rows", done, total, 0, ""}); };
  const auto seen = as_seen(model, graph, context.watch.note);
  const PreparedGraph prepared = prepare(*seen, settings, input_options(context, *seen, settings));
  if (!options.output.ends_with(".npy"))
    return write_rows(options.output, graphpae::embed(model, prepared, how), graph.node_names(), "node");
  const int64_t width = settings.width;
  EmbeddingRows file(options.output, graph.num_nodes(), width);
  graphpae::embed(model, prepared, how, [&](int64_t, int64_t count, const float* rows) {
    file.add({rows, static_cast<size_t>(count * width)});
  });
  file.commit();
  return {graph.num_nodes(), width};
}

EmbedResult embed(Model& model, const GraphSet& molecules, const EmbedOptions& options, const Context& context) {
  if (options.sampled || options.memory > 0)
    throw usage_error("--inference sampled and --memory are for the nodes of a graph, the data are molecules");
  const InputOptions inputs = input_options(context, molecules, model.settings());
  return write_rows(options.output, graphpae::embed(model, molecules, inputs), molecule_names(molecules), "molecule",
                    {molecules.parts().id_name, molecules.parts().ids});
}

}  // namespace graphpae::run
