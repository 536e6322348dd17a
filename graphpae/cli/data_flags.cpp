#include "graphpae/cli/data_flags.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "graphpae/cli/setting_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/data/known_data.h"
#include "graphpae/io/input_file.h"

namespace graphpae::cli {

void add_data_flags(CLI::App& app, DataFlags& flags) {
  app.add_option("DATA", flags.data, "a file, a directory or the name of a known data set")->required();
  add_reading_flags(app, flags);
}

void add_reading_flags(CLI::App& app, DataFlags& flags) {
  app.add_option("--features", flags.reading.features, "file of node features (.npz .npy .csv)");
  app.add_option("--labels", flags.reading.labels, "file of node labels (.npy .csv)");
  app.add_option("--splits", flags.reading.splits, "file of splits (.npz)");
  app.add_option("--ids", flags.ids, "ids of an edge list: auto, numbers or names")->capture_default_str();
  app.add_option("--self-loops", flags.self_loops, "drop, keep or refuse")->capture_default_str();
  app.add_option("--repeats", flags.repeats, "repeated edges: merge or refuse")->capture_default_str();
  app.add_option("--smiles-column", flags.reading.smiles_column, "column of SMILES in a table (default: smiles)");
  app.add_option("--tasks", flags.reading.tasks, "target columns of a table of molecules")->delimiter(',');
  app.add_option(
      "--featurizer", flags.featurizer,
      "codes of molecules: ogb or transfer (default: those of the recipe or the model, of graphs.npz, else ogb)");
  app.add_option("--on-invalid", flags.on_invalid,
                 "rows that are not molecules: fail, skip or nan (kept, without atoms)")
      ->capture_default_str();
  app.add_flag("--offline", flags.offline, "never touch the network");
  app.add_flag("--trust-download", flags.trust_download, "accept downloads whose checksum is not recorded");
  app.add_option("--registry", flags.registry, "another registry of known data sets (YAML)");
}

LoadOptions load_options(const DataFlags& flags, const Common& common) {
  LoadOptions options = flags.reading;
  options.ids = choose<NodeIds>(
      "--ids", flags.ids, {{"auto", NodeIds::automatic}, {"numbers", NodeIds::numbers}, {"names", NodeIds::names}});
  options.edges.self_loops =
      choose<SelfLoops>("--self-loops", flags.self_loops,
                        {{"drop", SelfLoops::drop}, {"keep", SelfLoops::keep}, {"refuse", SelfLoops::refuse}});
  options.edges.repeats =
      choose<Repeats>("--repeats", flags.repeats, {{"merge", Repeats::merge}, {"refuse", Repeats::refuse}});
  if (!flags.featurizer.empty()) {
    options.featurizer = choose<Featurizer>("--featurizer", flags.featurizer,
                                            {{"ogb", Featurizer::ogb}, {"transfer", Featurizer::transfer}});
  }
  options.on_invalid =
      choose<OnInvalid>("--on-invalid", flags.on_invalid,
                        {{"fail", OnInvalid::fail}, {"skip", OnInvalid::skip}, {"nan", OnInvalid::nan}});
  if (const char* cache = std::getenv("GRAPHPAE_CACHE"); cache != nullptr && flags.use_cache)
    options.molecule_cache = cache;
  options.threads = common.thread_count();
  return options;
}

Dataset load_data(const DataFlags& flags, const Common& common) {
  FetchOptions fetch = default_fetch_options();
  fetch.offline = flags.offline;
  fetch.trust = flags.trust_download;
  fetch.progress = [last = int64_t{-1}](const std::string& file, int64_t done, int64_t total) mutable {
    const int64_t percent = done * 100 / std::max<int64_t>(total, 1);
    if (percent / 10 != last / 10)
      spdlog::info("{}: {}% of {:.1f} MB", file, percent, static_cast<double>(total) / 1e6);
    last = percent;
  };
  return load_path_or_name(
      flags.data, load_options(flags, common), fetch,
      flags.registry.empty() ? known_data() : parse_known_data(read_file(flags.registry, 1 << 24)));
}

void check_not_input(const std::string& output, const DataFlags& data) {
  for (const std::string& input : {data.data, data.reading.features, data.reading.labels, data.reading.splits}) {
    std::error_code absent;
    if (!input.empty() && std::filesystem::equivalent(output, input, absent))
      throw usage_error(fmt::format("-o {}: is the file that is read, and would be replaced", output));
  }
}

}  // namespace graphpae::cli
