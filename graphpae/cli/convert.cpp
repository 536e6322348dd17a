#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/command.h"
#include "graphpae/cli/model_flags.h"
#include "graphpae/cli/progress.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/data/directory_form.h"
#include "graphpae/data/scaffold_split.h"
#include "graphpae/evaluate/random_splits.h"
#include "graphpae/io/text.h"
#include "graphpae/positions/convert_shards.h"
#include "graphpae/settings/input_settings.h"
#include "graphpae/settings/recipes.h"

namespace graphpae::cli {
namespace {

struct ConvertFlags {
  DataFlags data;
  std::string output, split, to = "directory";
  uint64_t split_seed = 0;
  bool force = false;
  ModelFlags model;  // shards only, as the size
  int64_t shard_size = kMoleculesPerShard;
};

// How molecules are divided: by scaffold, or at random with these shares.
struct SplitWish {
  bool scaffold = false;
  RandomSplitOptions random;
};

SplitWish parse_split(const ConvertFlags& flags) {
  constexpr std::string_view kRandom = "random:";
  if (flags.split == "scaffold") return {true, {}};
  if (!flags.split.starts_with(kRandom))
    throw usage_error(fmt::format("--split {}: expected scaffold or random:80/10/10", flags.split));
  SplitWish wish{false, parse_split_shares(flags.split.substr(kRandom.size()))};
  wish.random.seed = flags.split_seed;
  return wish;
}

// The graph with as many splits of its labelled nodes as are wished, each with the shares of all classes; of all nodes
// if there are no labels.
Graph with_splits(Graph graph, const SplitWish& wish) {
  if (wish.scaffold) throw usage_error("--split scaffold is for molecules; nodes take random:60/20/20");
  RandomSplitOptions options = wish.random;
  options.stratified = true;
  const std::vector<int32_t> none(graph.labels().empty() ? static_cast<size_t>(graph.num_nodes()) : 0, 0);
  std::vector<Split> splits = random_splits(graph.labels().empty() ? none : graph.labels(), options);
  return std::move(graph).with_splits(std::move(splits));
}

// The set with one split of its molecules; rows that are not molecules are in no part.
GraphSet with_split(const GraphSet& set, const SplitWish& wish, Threads threads) {
  GraphSetParts parts = set.parts();
  if (wish.scaffold) {
    parts.splits = {scaffold_split(set, threads)};
  } else {
    std::vector<int32_t> taken(parts.num_graphs, 0);
    for (int64_t g = 0; g < parts.num_graphs; ++g)
      if (parts.node_offsets[g] == parts.node_offsets[g + 1]) taken[g] = -1;
    RandomSplitOptions options = wish.random;
    options.count = 1;
    parts.splits = random_splits(taken, options);
  }
  return GraphSet(std::move(parts));
}

void print_shards(const ConvertedShards& made, const std::string& output, double seconds,
                  const std::vector<std::string>& notes, const Common& common) {
  const ShardManifest& manifest = made.manifest;
  if (common.json) {
    return print_json({{"molecules", manifest.molecules()},
                       {"atoms", manifest.atoms()},
                       {"bonds", manifest.bonds()},
                       {"invalid", made.invalid},
                       {"shards", manifest.shards.size()},
                       {"featurizer", name_of(manifest.featurizer)},
                       {"position_columns", manifest.k},
                       {"bytes", made.bytes},
                       {"content_sha256", manifest.content_sha256},
                       {"seconds", seconds},
                       {"peak_rss_bytes", peak_memory()},
                       {"output", output},
                       {"notes", notes}});
  }
  print_notes(notes);
  fmt::print("{}: {} molecules in {} shards, {:.1f} MB, {:.1f} s ({:.0f} molecules/s), peak memory {:.2f} GB\n", output,
             grouped(manifest.molecules()), manifest.shards.size(), static_cast<double>(made.bytes) / 1e6, seconds,
             static_cast<double>(manifest.molecules()) / seconds, static_cast<double>(peak_memory()) / 1e9);
}

void to_shards(ConvertFlags flags, const Common& common) {
  const Stopwatch watch;
  const bool own_base = flags.model.recipe.empty();
  const Settings settings = resolve_settings(flags.model, own_base ? recipe_settings("molecules") : Settings());
  check_encoder(settings, EncoderKind::gated_gcn);
  flags.data.use_cache = false;
  resolve_reading(flags.model, "", flags.data);
  const LoadOptions reading = load_options(flags.data, common);
  if (reading.on_invalid == OnInvalid::nan)
    throw usage_error("--on-invalid nan keeps rows without atoms, and shards hold molecules only: take skip or fail");
  std::vector<std::string> notes;
  if (own_base) notes.push_back("shards without --recipe: positions that are not set are those of recipe molecules");

  ConvertOptions options{flags.output, flags.force, flags.shard_size, reading.featurizer.value_or(Featurizer::ogb),
                         {},           {},          reading.threads,  {}};
  if (settings.use_positions) {
    options.positions = position_options(settings);
    options.position_settings = position_settings(settings);
  }
  std::optional<Progress> progress;
  options.progress = [&](int64_t done, int64_t total) {
    if (!progress) progress.emplace(common, "molecules", total);
    if (done > 0) progress->update(done);
  };
  ConvertedShards made;
  const std::string texts = smiles_file_of(flags.data.data, reading);
  if (!texts.empty()) {
    made = convert_to_shards(texts, reading, options, notes);
  } else {
    const Dataset dataset = load_data(flags.data, common);
    if (dataset.is_graph())
      throw usage_error(fmt::format("--to shards is for molecules, and {} is one graph", flags.data.data));
    notes.insert(notes.end(), dataset.notes.begin(), dataset.notes.end());
    made = naming(flags.data.data, [&] {
      options.featurizer = featurizer_of(dataset.graph_set());
      return convert_to_shards(dataset.graph_set(), options);
    });
    made.invalid += dataset.invalid;
  }
  progress.reset();
  print_shards(made, flags.output, watch.seconds(), notes, common);
}

}  // namespace

void add_convert(CLI::App& app, Common& common) {
  CLI::App* verb =
      app.add_subcommand("convert", "Convert any readable data to our own directory form, or molecules to shards.");
  auto flags = std::make_shared<ConvertFlags>();
  flags->data.reading.as_smiles = true;
  add_data_argument(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "Write to this directory.")->required()->type_name("DIR");
  verb->add_flag("--force", flags->force, "Write into an existing directory.");
  verb->add_option("--to", flags->to,
                   "Write our directory form, or shards: molecules with positions for pre-training from disk.")
      ->type_name("directory|shards")
      ->capture_default_str();
  verb->add_option(
          "--split", flags->split,
          "Divide nodes or molecules anew: random:60/20/20 (of nodes ten times, or as often as random:5x60/20/20 "
          "says, within every class), or molecules by scaffold.")
      ->type_name("SPLIT");
  add_reading_flags(*verb, flags->data);
  verb->add_option("--split-seed", flags->split_seed, "Draw a random split from this seed.")
      ->type_name("N")
      ->group(kRare)
      ->capture_default_str();
  verb->add_option("--shard-size", flags->shard_size, "Put this many molecules into a shard.")
      ->type_name("N")
      ->group(kRare)
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24))
      ->capture_default_str();
  add_recipe_flag(*verb, flags->model.recipe);
  add_setting_flags(*verb, {}, flags->model.settings);
  verb->callback([flags, &common] {
    if (choose<bool>("--to", flags->to, {{"directory", false}, {"shards", true}})) {
      if (!flags->split.empty()) throw usage_error("--split divides molecules with labels, and shards hold no labels");
      return to_shards(*flags, common);
    }
    if (!flags->model.empty())
      throw usage_error("--recipe, --set and --config say how positions are made, and need --to shards");
    const std::optional<SplitWish> wish = flags->split.empty() ? std::nullopt : std::optional(parse_split(*flags));
    Dataset dataset = load_data(flags->data, common);
    if (wish) {
      naming(flags->data.data, [&] {
        if (dataset.is_graph())
          dataset.content = with_splits(std::move(std::get<Graph>(dataset.content)), *wish);
        else
          dataset.content = with_split(dataset.graph_set(), *wish, common.thread_count());
        return 0;
      });
    }
    if (dataset.is_graph()) {
      write_directory(flags->output, dataset.graph(), flags->force);
    } else {
      write_directory(flags->output, dataset.graph_set(), flags->force);
    }
    if (common.json) {
      Json json = info_json(dataset);
      json["output"] = flags->output;
      return print_json(json);
    }
    print_notes(dataset.notes);
    fmt::print("{}", info_text(dataset, flags->output));
  });
}

}  // namespace graphpae::cli
