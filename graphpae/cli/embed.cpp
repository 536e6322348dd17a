#include <fmt/format.h>
#include <torch/torch.h>

#include <filesystem>
#include <memory>

#include "graphpae/cli/run_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/io/embedding_file.h"
#include "graphpae/model/model_file.h"
#include "graphpae/train/pretrain.h"

namespace graphpae::cli {
namespace {

struct Flags {
  std::string run, output, kernels = "fused";
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

}  // namespace

void add_embed(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("embed", "frozen embeddings, one row per node or molecule in input order");
  auto flags = std::make_shared<Flags>();
  verb->add_option("RUN", flags->run, "run directory or model directory")->required();
  add_data_flags(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "file to write: .npy .npz .csv .tsv")->required();
  verb->add_option("--kernels", flags->kernels, "fused or reference (plain LibTorch)")->capture_default_str();
  verb->callback([flags, &common] {
    check_embedding_path(flags->output);
    const Kernels kernels = parse_kernels(flags->kernels);
    const auto model = load_model(flags->run);
    const Dataset dataset = load_data(flags->data, common);
    print_notes(dataset.notes);
    const torch::Tensor rows = naming(flags->data.data, [&] {
      const auto embed_any = [&](const auto& data) {
        return embed(*model, data, input_options(common, kernels, data, model->settings()));
      };
      return std::visit(embed_any, dataset.content).contiguous();
    });
    write_embeddings(flags->output, {rows.data_ptr<float>(), static_cast<size_t>(rows.numel())}, rows.size(0),
                     rows.size(1),
                     dataset.is_graph() ? dataset.graph().node_names() : molecule_names(dataset.graph_set()),
                     dataset.is_graph() ? "node" : "molecule");
    if (common.json) return print_json({{"rows", rows.size(0)}, {"columns", rows.size(1)}, {"output", flags->output}});
    fmt::print("{}: {} x {}\n", flags->output, rows.size(0), rows.size(1));
  });
}

}  // namespace graphpae::cli
