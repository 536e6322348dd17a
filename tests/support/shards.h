// Shards of small molecules for tests.
#pragma once

#include <string>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/data/molecule_stream.h"
#include "graphpae/positions/position_batch.h"
#include "graphpae/settings/input_settings.h"

namespace graphpae::test {

inline ShardManifest write_shards(const std::string& directory, const GraphSet& set, const Settings& settings,
                                  int64_t shard_size) {
  ShardManifest form;
  form.featurizer = Featurizer::transfer;
  form.k = settings.eigenvectors;
  form.position_settings = position_settings(settings);
  ShardWriter writer(directory, false, form);
  stream_molecules(set, shard_size, [&](const GraphSetParts& parts, int64_t) {
    const GraphBatch graphs{parts.node_offsets, parts.edge_offsets, parts.edges};
    writer.add(parts, position_batch(graphs, position_options(settings)).eigenvectors);
  });
  return writer.finish();
}

}  // namespace graphpae::test
