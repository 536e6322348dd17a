#include "graphpae/train/embed.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>
#include <memory>

#include "graphpae/cli/output_file.h"
#include "graphpae/cli/progress.h"
#include "graphpae/cli/run_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/embedding_file.h"
#include "graphpae/model/model_file.h"

namespace graphpae::cli {
namespace {

struct Flags {
  std::string run, output, kernels = "fused", inference = "exact";
  uint64_t memory = 0;
  DataFlags data;
};

// The SMILES, by which rows find their molecules again; nothing for mol blocks.
TextColumn molecule_names(const GraphSet& set) {
  const TextColumn& texts = set.parts().texts;
  for (int64_t g = 0; g < texts.size(); ++g) {
    if (texts[g].find('\n') != std::string_view::npos) return {};
  }
  return texts;
}

EmbedOptions embed_options(const Flags& flags, const Common& common) {
  EmbedOptions options;
  options.sampled = choose<bool>("--inference", flags.inference, {{"exact", false}, {"sampled", true}});
  options.memory = static_cast<int64_t>(flags.memory);
  const auto bar = std::make_shared<std::unique_ptr<Progress>>();
  options.progress = [bar, &common](int64_t done, int64_t total) {
    if (*bar == nullptr) *bar = std::make_unique<Progress>(common, "rows", total);
    (*bar)->update(done);
  };
  return options;
}

// Writes the rows of all nodes and says how many columns they have.
int64_t embed_nodes(GraphPae& model, const Graph& graph, const Flags& flags, Kernels kernels,
                    const EmbedOptions& options, const Common& common) {
  check_features(model, graph);
  if (options.sampled && model.settings().batch_size == 0)
    throw usage_error("--inference sampled: the model was trained on whole graphs");
  const PreparedGraph prepared =
      prepare(graph, model.settings(), input_options(common, kernels, graph, model.settings()));
  const int64_t n = graph.num_nodes(), width = model.settings().width;
  if (flags.output.ends_with(".npy")) {
    EmbeddingRows file(flags.output, n, width);
    embed(model, prepared, options, [&](int64_t, int64_t count, const float* rows) {
      file.add({rows, static_cast<size_t>(count * width)});
    });
    file.commit();
    return width;
  }
  const torch::Tensor rows = embed(model, prepared, options);
  write_embeddings(flags.output, {rows.data_ptr<float>(), static_cast<size_t>(rows.numel())}, n, width,
                   graph.node_names(), "node");
  return width;
}

int64_t embed_molecules(GraphPae& model, const GraphSet& set, const Flags& flags, Kernels kernels,
                        const EmbedOptions& options, const Common& common) {
  if (options.sampled || options.memory > 0)
    throw usage_error("--inference sampled and --memory are for the nodes of a graph, the data are molecules");
  const torch::Tensor rows = embed(model, set, input_options(common, kernels, set, model.settings())).contiguous();
  write_embeddings(flags.output, {rows.data_ptr<float>(), static_cast<size_t>(rows.numel())}, rows.size(0),
                   rows.size(1), molecule_names(set), "molecule");
  return rows.size(1);
}

}  // namespace

void add_embed(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("embed", "frozen embeddings, one row per node or molecule in input order");
  auto flags = std::make_shared<Flags>();
  verb->add_option("RUN", flags->run, "run directory or model directory")->required();
  add_data_flags(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "file to write: .npy .npz .csv .tsv")->required();
  verb->add_option("--kernels", flags->kernels, "fused or reference (plain LibTorch)")->capture_default_str();
  verb->add_option("--inference", flags->inference,
                   "of nodes: exact, or sampled as released for models trained on samples")
      ->capture_default_str();
  verb->add_option(
          "--memory", flags->memory,
          "resident memory to stay below, such as 8GB; large graphs go layer by layer (default: what is there)")
      ->transform(CLI::AsSizeValue(true));
  verb->callback([flags, &common] {
    check_embedding_path(flags->output);
    check_not_input(flags->output, flags->data);
    const Kernels kernels = parse_kernels(flags->kernels);
    const EmbedOptions options = embed_options(*flags, common);
    const auto model = load_model(flags->run);
    if (flags->data.featurizer.empty()) flags->data.featurizer = featurizer_name(model->input_shape());
    const Dataset dataset = load_data(flags->data, common);
    print_notes(dataset.notes);
    int64_t columns = 0;
    try {
      columns = dataset.is_graph() ? embed_nodes(*model, dataset.graph(), *flags, kernels, options, common)
                                   : embed_molecules(*model, dataset.graph_set(), *flags, kernels, options, common);
    } catch (const Error& error) {
      if (std::string(error.what()).starts_with(flags->output)) throw;  // not of the data
      naming(flags->data.data, [] { throw; });
    }
    const int64_t rows = dataset.is_graph() ? dataset.graph().num_nodes() : dataset.graph_set().num_graphs();
    if (common.json) {
      return print_json(
          {{"rows", rows}, {"columns", columns}, {"output", flags->output}, {"peak_rss_bytes", peak_memory()}});
    }
    fmt::print("{}: {} x {}\n", flags->output, rows, columns);
  });
}

}  // namespace graphpae::cli
