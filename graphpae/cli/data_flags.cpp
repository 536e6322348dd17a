#include "graphpae/cli/data_flags.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "graphpae/cli/flag_groups.h"
#include "graphpae/cli/setting_flags.h"
#include "graphpae/core/error.h"
#include "graphpae/data/known_data.h"
#include "graphpae/io/input_file.h"

namespace graphpae::cli {

void add_data_argument(CLI::App& app, DataFlags& flags) {
  app.add_option("DATA", flags.data, "Read this file or directory, or the known data set of this name.")
      ->required()
      ->type_name("DATA");
}

void add_reading_flags(CLI::App& app, DataFlags& flags) {
  app.add_option("--features", flags.reading.features, "Read node features from this file (.npz, .npy or .csv).")
      ->type_name("FILE");
  app.add_option("--labels", flags.reading.labels, "Read node labels from this file (.npy or .csv).")
      ->type_name("FILE");
  const auto add = [&](const char* name, auto& field, const char* value, const char* help) {
    return app.add_option(name, field, help)->type_name(value)->group(kReading);
  };
  const auto add_switch = [&](const char* name, bool& field, const char* help) {
    app.add_flag(name, field, help)->group(kReading);
  };
  add("--splits", flags.reading.splits, "FILE",
      "Read splits from this file (.npz, or .csv with the columns node and split, or a column per split).");
  add("--columns", flags.reading.columns, "COLUMNS",
      "Read edges from these columns of a table: SOURCE,TARGET or SOURCE,TARGET,WEIGHT, by name or by number from 1; "
      "the "
      "default is what the header and the first rows tell.");
  add("--id", flags.reading.id_column, "COLUMN",
      "Take this column of a table for the ids of nodes or molecules; the default is one headed id, node, ...");
  add_switch("--directed", flags.reading.directed,
             "Keep that edges lead from source to target; what needs undirected edges takes them as such.");
  add("--base", flags.base, "auto|0|1", "Count node numbers of an edge list from 0 or 1.")->capture_default_str();
  add("--ids", flags.ids, "auto|numbers|names", "Take the ids of an edge list for numbers or for names.")
      ->capture_default_str();
  add("--self-loops", flags.self_loops, "drop|keep|refuse", "Drop, keep or refuse self loops.")->capture_default_str();
  add("--repeats", flags.repeats, "merge|refuse", "Merge or refuse repeated edges.")->capture_default_str();
  add("--smiles-column", flags.reading.smiles_column, "COLUMN",
      "Read SMILES from this column of a table; the default is smiles.");
  add("--tasks", flags.reading.tasks, "COLUMNS", "Read targets from these columns of a table of molecules.")
      ->delimiter(',');
  add("--featurizer", flags.featurizer, "ogb|transfer",
      "Give molecules these codes; the default is what the recipe, the model or the data say, or else ogb.");
  add("--on-invalid", flags.on_invalid, "fail|skip|nan",
      "Fail at rows that are not molecules, skip them, or keep them without atoms.")
      ->capture_default_str();
  add_switch("--offline", flags.offline, "Never touch the network.");
  add_switch("--trust-download", flags.trust_download, "Accept downloads whose checksum is not recorded.");
  add("--registry", flags.registry, "FILE", "Look up known data sets in this registry (YAML).");
}

void add_matching_flag(CLI::App& app, DataFlags& flags) {
  app.add_option(
         "--missing-columns", flags.missing_columns,
         "Refuse data that lack a feature column of the model, or put zeros there; columns are matched by name.")
      ->type_name("error|zero")
      ->group(kReading)
      ->capture_default_str();
}

LoadOptions load_options(const DataFlags& flags, const Common& common) {
  LoadOptions options = flags.reading;
  options.ids = choose<NodeIds>(
      "--ids", flags.ids, {{"auto", NodeIds::automatic}, {"numbers", NodeIds::numbers}, {"names", NodeIds::names}});
  options.base = choose<int64_t>("--base", flags.base, {{"auto", -1}, {"0", 0}, {"1", 1}});
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
