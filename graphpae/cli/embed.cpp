#include "graphpae/run/embed.h"

#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/model_data.h"
#include "graphpae/cli/model_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/row_files.h"

namespace graphpae::cli {
namespace {

struct EmbedFlags {
  std::string run, output, kernels = "fused", inference = "exact";
  uint64_t memory = 0;
  DataFlags data;
};

void embed(EmbedFlags& flags, const Common& common) {
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
  const Dataset dataset = load_data_for(*model, flags.data, common);
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
  CLI::App* verb = app.add_subcommand("embed", "Write frozen embeddings, one row per node or molecule in input order.");
  auto flags = std::make_shared<EmbedFlags>();
  verb->add_option("RUN", flags->run, "Take the encoder of this run or model directory.")->required()->type_name("RUN");
  add_data_argument(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "Write to this file (.npy, .npz, .csv or .tsv).")
      ->required()
      ->type_name("FILE");
  add_reading_flags(*verb, flags->data);
  add_matching_flag(*verb, flags->data);
  verb->add_option("--memory", flags->memory,
                   "Stay below this much memory, such as 8GB; large graphs go layer by layer. The default is what is "
                   "free.")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(true));
  verb->add_option("--inference", flags->inference,
                   "Embed nodes exactly, or from samples as released for models trained on samples.")
      ->type_name("exact|sampled")
      ->group(kRare)
      ->capture_default_str();
  add_kernels_flag(*verb, flags->kernels);
  verb->callback([flags, &common] { embed(*flags, common); });
}

}  // namespace graphpae::cli
