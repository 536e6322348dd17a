#include "graphpae/run/embed.h"

#include <fmt/format.h>

#include <memory>

#include "graphpae/blocks/block.h"
#include "graphpae/cli/context.h"
#include "graphpae/cli/model_data.h"
#include "graphpae/cli/model_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/row_files.h"

namespace graphpae::cli {
namespace {

struct EmbedFlags {
  std::string run, output, blocks, kernels = "fused", inference = "exact";
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
  std::vector<std::string> names;
  if (!flags.blocks.empty()) names = parse_block_names(flags.blocks);
  if (flags.run == "none" && names.empty())
    throw usage_error("RUN is none: --blocks says what to write, such as --blocks neighbours,adjacency");
  const auto model = flags.run == "none" ? nullptr : run::load_model(flags.run);
  if (model && flags.data.featurizer.empty()) flags.data.featurizer = run::featurizer_of(*model);
  const Dataset dataset = model ? load_data_for(*model, flags.data, common) : load_data(flags.data, common);
  if (!model) print_notes(dataset.notes);
  run::EmbedResult result;
  std::vector<run::EmbeddedBlock> blocks;
  try {
    if (!names.empty()) {
      run::BlockResult written =
          std::visit([&](const auto& data) { return run::embed_blocks(model.get(), data, names, options, context); },
                     dataset.content);
      result = written;
      blocks = std::move(written.blocks);
    } else {
      result =
          std::visit([&](const auto& data) { return run::embed(*model, data, options, context); }, dataset.content);
    }
  } catch (const Error& error) {
    if (std::string(error.what()).starts_with(flags.output)) throw;  // not of the data
    naming(flags.data.data, [] { throw; });
  }
  if (common.json) {
    Json json = {{"rows", result.rows},
                 {"columns", result.columns},
                 {"output", flags.output},
                 {"peak_rss_bytes", peak_memory()}};
    for (const run::EmbeddedBlock& block : blocks) {
      json["blocks"].push_back({{"name", block.name}, {"columns", block.columns}, {"about", block.about}});
      if (block.reduced_from > 0) json["blocks"].back()["reduced_from"] = block.reduced_from;
    }
    return print_json(json);
  }
  fmt::print("{}: {} x {}\n", flags.output, result.rows, result.columns);
  for (const run::EmbeddedBlock& block : blocks)
    fmt::print("  {:12} {:>6}  {}\n", block.name, block.columns, block.about);
}

}  // namespace

void add_embed(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("embed", "Write frozen embeddings, one row per node or molecule in input order.");
  auto flags = std::make_shared<EmbedFlags>();
  verb->add_option("RUN", flags->run, "Take the encoder of this run or model directory; none with --blocks alone.")
      ->required()
      ->type_name("RUN");
  add_data_argument(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "Write to this file (.npy, .npz, .csv or .tsv).")
      ->required()
      ->type_name("FILE");
  verb->add_option("--blocks", flags->blocks,
                   "Write these representations side by side: features, neighbours, adjacency, degree, positions, of "
                   "molecules morgan, descriptors, atom_pairs, and pretrained, the rows of RUN.")
      ->type_name("LIST");
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
