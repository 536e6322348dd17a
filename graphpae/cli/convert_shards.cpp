#include "graphpae/cli/convert_shards.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "graphpae/cli/progress.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/data/molecule_stream.h"
#include "graphpae/io/text.h"
#include "graphpae/positions/position_batch.h"
#include "graphpae/train/input_settings.h"
#include "graphpae/train/recipes.h"

namespace graphpae::cli {
namespace {

// [N,K]
std::vector<double> solve(const GraphSetParts& parts, const Settings& settings, Threads threads) {
  if (!settings.use_positions) return {};
  BatchPositions positions =
      position_batch({parts.node_offsets, parts.edge_offsets, parts.edges}, position_options(settings), threads);
  if (positions.unconverged_graphs > 0) {
    throw numerical_error(fmt::format("the eigenvectors of {} molecules could not be computed to the tolerance",
                                      positions.unconverged_graphs));
  }
  return std::move(positions.eigenvectors);
}

}  // namespace

void convert_to_shards(ShardFlags flags, const Common& common) {
  const auto start = std::chrono::steady_clock::now();
  const bool own_base = flags.model.recipe.empty();
  const Settings settings = resolve_settings(flags.model, own_base ? recipe_settings("molecules") : Settings());
  check_encoder(settings, EncoderKind::gated_gcn);
  flags.data.use_cache = false;
  resolve_reading(flags.model, "", flags.data);
  LoadOptions options = load_options(flags.data, common);
  if (options.on_invalid == OnInvalid::nan)
    throw usage_error("--on-invalid nan keeps rows without atoms, and shards hold molecules only: take skip or fail");
  std::vector<std::string> notes;
  if (own_base) notes.push_back("shards without --recipe: positions that are not set are those of recipe molecules");

  ShardManifest form;
  if (settings.use_positions) {
    form.k = settings.eigenvectors;
    form.position_settings = position_settings(settings);
  }
  std::optional<ShardWriter> writer;
  const auto begin = [&](Featurizer featurizer) {
    form.featurizer = featurizer;
    writer.emplace(flags.output, flags.force, form);
  };
  const auto write_all = [&](int64_t rows, const auto& stream) {
    Progress progress(common, "molecules", rows);
    return stream([&](const GraphSetParts& parts, int64_t rows_read) {
      writer->add(parts, solve(parts, settings, options.threads));
      progress.update(rows_read);
    });
  };

  StreamCounts counts;
  const std::string texts = smiles_file_of(flags.data.data, options);
  if (!texts.empty()) {
    begin(options.featurizer.value_or(Featurizer::ogb));
    counts = write_all(count_rows(texts, options), [&](const TakeMolecules& take) {
      return stream_molecules(texts, options, flags.shard_size, notes, take);
    });
  } else {
    const Dataset dataset = load_data(flags.data, common);
    if (dataset.is_graph())
      throw usage_error(fmt::format("--to shards is for molecules, and {} is one graph", flags.data.data));
    const GraphSet& set = dataset.graph_set();
    notes.insert(notes.end(), dataset.notes.begin(), dataset.notes.end());
    naming(flags.data.data, [&] {
      begin(featurizer_of(set));
      counts = write_all(set.num_graphs(),
                         [&](const TakeMolecules& take) { return stream_molecules(set, flags.shard_size, take); });
    });
    counts.invalid += dataset.invalid;
  }
  const ShardManifest manifest = naming(flags.data.data, [&] { return writer->finish(); });

  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(flags.output))
    bytes += static_cast<int64_t>(entry.file_size());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (common.json) {
    return print_json({{"molecules", manifest.molecules()},
                       {"atoms", manifest.atoms()},
                       {"bonds", manifest.bonds()},
                       {"invalid", counts.invalid},
                       {"shards", manifest.shards.size()},
                       {"featurizer", name_of(manifest.featurizer)},
                       {"position_columns", manifest.k},
                       {"bytes", bytes},
                       {"content_sha256", manifest.content_sha256},
                       {"seconds", seconds},
                       {"peak_rss_bytes", peak_memory()},
                       {"output", flags.output},
                       {"notes", notes}});
  }
  print_notes(notes);
  fmt::print("{}: {} molecules in {} shards, {:.1f} MB, {:.1f} s ({:.0f} molecules/s), peak memory {:.2f} GB\n",
             flags.output, grouped(manifest.molecules()), manifest.shards.size(), static_cast<double>(bytes) / 1e6,
             seconds, static_cast<double>(manifest.molecules()) / seconds, static_cast<double>(peak_memory()) / 1e9);
}

}  // namespace graphpae::cli
