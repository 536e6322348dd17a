#include "bench/shard_bench.h"

#include <torch/torch.h>

#include <algorithm>

#include "bench/measure.h"
#include "bench/molecule_bench.h"
#include "graphpae/positions/position_batch.h"
#include "graphpae/train/pretrain.h"

namespace graphpae::bench {

ShardBench run_shard_bench(const ShardSet& shards, const Settings& settings, int steps, Threads threads) {
  InputOptions options;
  options.threads = threads;
  const InputShape shape = input_shape(shards);
  const ShardInput input = prepare(shards, settings, options);
  ShardBench bench;
  bench.molecules = shards.manifest().molecules();
  bench.shards = shards.num_shards();
  bench.batch = std::min(settings.batch_size, bench.molecules);

  {
    ShardedMolecules batches(input, settings);
    std::vector<double> seconds;
    const int64_t windows =
        std::min<int64_t>(2 * kShardsPerWindow * kMoleculesPerShard / bench.batch, batches.steps_per_epoch());
    batches.input(0, 0);
    for (int64_t step = 1; step < windows; ++step)
      seconds.push_back(median_seconds(1, [&] { batches.input(0, step); }));
    if (seconds.empty()) seconds.push_back(median_seconds(1, [&] { batches.input(1, 0); }));
    for (const double one : seconds) bench.prepare_ms += 1e3 * one / static_cast<double>(seconds.size());
    bench.longest_ms = 1e3 * *std::max_element(seconds.begin(), seconds.end());
  }

  ShardContent first = shards.read(0);
  const auto in_memory = std::make_shared<const MoleculeInputs>(first.molecules, shape, std::move(first.positions),
                                                                threads, options.kernels);
  Pretrainer from_shards(input, shape, settings), from_memory(in_memory, shape, settings);
  from_shards.train_step();
  from_memory.train_step();
  std::vector<double> a, b;
  for (int i = 0; i < steps; ++i) {
    a.push_back(median_seconds(1, [&] { from_shards.train_step(); }));
    b.push_back(median_seconds(1, [&] { from_memory.train_step(); }));
  }
  bench.shards_ms = 1e3 * median(a);
  bench.memory_ms = 1e3 * median(b);
  return bench;
}

ShardSet bench_shards(const std::string& directory, const Settings& settings, Threads threads) {
  constexpr int kShards = 32;
  const GraphSet drugs = bench_molecules(threads);
  const GraphSetParts& parts = drugs.parts();
  ShardManifest form;
  form.featurizer = featurizer_of(drugs);
  form.k = settings.eigenvectors;
  form.position_settings = position_settings(settings);
  const BatchPositions positions =
      position_batch({parts.node_offsets, parts.edge_offsets, parts.edges}, position_options(settings), threads);
  ShardWriter writer(directory, false, form);
  for (int s = 0; s < kShards; ++s) writer.add(parts, positions.eigenvectors);
  writer.finish();
  return ShardSet(directory);
}

}  // namespace graphpae::bench
