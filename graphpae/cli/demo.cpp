#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "graphpae/cli/context.h"
#include "graphpae/cli/evaluation.h"
#include "graphpae/core/error.h"
#include "graphpae/data/generate.h"
#include "graphpae/io/row_files.h"
#include "graphpae/run/pretrain.h"
#include "graphpae/settings/recipes.h"

namespace graphpae::cli {
namespace {

namespace fs = std::filesystem;

// Small enough for a minute on two cores. Without the dropped edges the accuracy depends much on the seed (70 to 92 %);
// with them it is 97 to 99 %.
Settings demo_settings() {
  Settings settings = recipe_settings("chameleon");
  settings.layers = 2;
  settings.width = 256;
  settings.eigenvectors = 32;
  settings.epochs = 300;
  settings.lr = 2e-3;
  settings.edge_dropout = 0.5;
  return settings;
}

void run_demo(const std::string& directory, bool force, const Common& common) {
  const Dataset dataset{
      generate(generate_defaults("heterophilic"), common.thread_count()), "generated heterophilic", {}, 0, {}, {}};
  const Graph& graph = dataset.graph();
  if (!common.json) fmt::print("{}\n", info_text(dataset, "demo graph"));
  if (fs::exists(directory) && !fs::is_empty(directory) && !force)
    throw usage_error(
        fmt::format("{}: exists and is not empty (-o DIR names another place, --force replaces it)", directory));

  run::PretrainOptions options;
  options.run = directory;
  options.force = true;
  options.data = "the graph of `graphpae demo`";
  options.settings = demo_settings();
  options.evaluate.emplace();
  const std::string file = directory + "/embeddings.npy", page = directory + "/report.html";
  int64_t columns = 0;
  options.observe = [&](const Features& rows) {
    columns = rows.columns();
    write_embeddings(file, rows.dense_values(), rows.rows(), columns, graph.node_names());
  };
  const run::PretrainResult result = run::pretrain(graph, options, context_of(common));
  const double first_loss = result.metrics.front().loss(), final_loss = result.metrics.back().loss();
  const std::string report = fs::exists(page) ? page : "";
  if (common.json) {
    Json json = info_json(dataset);
    json["first_loss"] = first_loss;
    json["final_loss"] = final_loss;
    json["evaluation"] = run::evaluation_json(*result.evaluation);
    json["output"] = directory;
    json["report"] = report;
    return print_json(json);
  }
  fmt::print(
      "pre-trained    {} epochs without labels: loss {:.4f} -> {:.4f}\n"
      "embeddings     {} ({} x {})\n"
      "model          {}/model\n"
      "results        {}/results.json\n"
      "report         {}\n\n"
      "How well the labels, which training never saw, can be read off:\n{}\n"
      "Next:\n"
      "  graphpae pretrain DATA --recipe chameleon -o RUN   the same on your data, with checkpoints\n"
      "  graphpae embed RUN DATA -o embeddings.npy          one row per node\n"
      "  graphpae evaluate RUN DATA                         how good they are, beside baselines\n"
      "  graphpae report RUN                                a page about the run\n"
      "  graphpae info DATA                                 what is in your file\n"
      "  graphpae recipes                                   published settings by data set\n",
      result.epochs, first_loss, final_loss, file, graph.num_nodes(), columns, directory, directory, report,
      evaluation_text(*result.evaluation));
}

}  // namespace

void add_demo(CLI::App& app, Common& common) {
  CLI::App* verb =
      app.add_subcommand("demo", "Tell the whole story on a generated graph, offline and in about a minute.");
  struct Flags {
    std::string output = "graphpae-demo";
    bool force = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::Option* output = verb->add_option("-o,--output", flags->output, "Write the results to this directory.")
                            ->type_name("DIR")
                            ->capture_default_str();
  verb->add_flag("--force", flags->force, "Write into an existing directory.");
  // The directory of an earlier demo may be replaced, one that the user names may not.
  verb->callback([flags, output, &common] { run_demo(flags->output, flags->force || output->count() == 0, common); });
}

}  // namespace graphpae::cli
