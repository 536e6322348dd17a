#include "graphpae/run/embed.h"

#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/model_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/row_files.h"

namespace graphpae::cli {
namespace {

struct Flags {
  std::string run, output, kernels = "fused", inference = "exact";
  uint64_t memory = 0;
  DataFlags data;
};

void embed(Flags& flags, const Common& common) {
  check_embedding_path(flags.output);
  check_not_input(flags.output, flags.data);
  run::Context context = context_of(common);
  context.kernels = parse_kernels(flags.kernels);
  run::EmbedOptions options;
  options.output = flags.output;
  options.sampled = choose<bool>("--inference", flags.inference, {{"exact", false}, {"sampled", true}});
  options.memory = static_cast<int64_t>(flags.memory);
  const auto model = run::load_model(flags.run);
  if (flags.data.featurizer.empty()) flags.data.featurizer = run::featurizer_of(*model);
  const Dataset dataset = load_data(flags.data, common);
  print_notes(dataset.notes);
  run::EmbedResult result;
  try {
    result = std::visit([&](const auto& data) { return run::embed(*model, data, options, context); }, dataset.content);
  } catch (const Error& error) {
    if (std::string(error.what()).starts_with(flags.output)) throw;  // not of the data
    naming(flags.data.data, [] { throw; });
  }
  if (common.json)
    return print_json({{"rows", result.rows},
                       {"columns", result.columns},
                       {"output", flags.output},
                       {"peak_rss_bytes", peak_memory()}});
  fmt::print("{}: {} x {}\n", flags.output, result.rows, result.columns);
}

}  // namespace

void add_embed(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("embed", "frozen embeddings, one row per node or molecule in input order");
  auto flags = std::make_shared<Flags>();
  verb->add_option("RUN", flags->run, "run directory or model directory")->required();
  add_data_flags(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "file to write: .npy .npz .csv .tsv")->required();
  add_kernels_flag(*verb, flags->kernels);
  verb->add_option("--inference", flags->inference,
                   "of nodes: exact, or sampled as released for models trained on samples")
      ->capture_default_str();
  verb->add_option(
          "--memory", flags->memory,
          "resident memory to stay below, such as 8GB; large graphs go layer by layer (default: what is there)")
      ->transform(CLI::AsSizeValue(true));
  verb->callback([flags, &common] { embed(*flags, common); });
}

}  // namespace graphpae::cli
