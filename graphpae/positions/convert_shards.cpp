#include "graphpae/positions/convert_shards.h"

#include <fmt/format.h>

#include <filesystem>

#include "graphpae/core/error.h"
#include "graphpae/positions/position_batch.h"

namespace graphpae {
namespace {

// [N,K]
std::vector<double> solve(const GraphSetParts& parts, const ConvertOptions& options) {
  if (!options.positions) return {};
  BatchPositions positions =
      position_batch({parts.node_offsets, parts.edge_offsets, parts.edges}, *options.positions, options.threads);
  if (positions.unconverged_graphs > 0) {
    throw numerical_error(fmt::format("the eigenvectors of {} molecules could not be computed to the tolerance",
                                      positions.unconverged_graphs));
  }
  return std::move(positions.eigenvectors);
}

// `count_all()` rows, which `stream(take)` reads. The directory is claimed before anything is read.
template <class Count, class Stream>
ConvertedShards convert(const ConvertOptions& options, const Count& count_all, const Stream& stream) {
  ShardManifest form;
  form.featurizer = options.featurizer;
  if (options.positions) form.k = options.positions->k;
  form.position_settings = options.position_settings;
  ShardWriter writer(options.output, options.force, form);
  const int64_t total = count_all();
  if (options.progress) options.progress(0, total);
  ConvertedShards result;
  const StreamCounts counts = stream([&](const GraphSetParts& parts, int64_t rows_read) {
    writer.add(parts, solve(parts, options));
    if (options.progress) options.progress(rows_read, total);
  });
  result.invalid = counts.invalid;
  result.manifest = writer.finish();
  for (const auto& entry : std::filesystem::directory_iterator(options.output))
    result.bytes += static_cast<int64_t>(entry.file_size());
  return result;
}

}  // namespace

ConvertedShards convert_to_shards(const std::string& smiles_file, const LoadOptions& reading,
                                  const ConvertOptions& options, std::vector<std::string>& notes) {
  return convert(
      options, [&] { return count_rows(smiles_file, reading); },
      [&](const TakeMolecules& take) {
        return stream_molecules(smiles_file, reading, options.shard_size, notes, take);
      });
}

ConvertedShards convert_to_shards(const GraphSet& set, const ConvertOptions& options) {
  return convert(
      options, [&] { return set.num_graphs(); },
      [&](const TakeMolecules& take) { return stream_molecules(set, options.shard_size, take); });
}

}  // namespace graphpae
