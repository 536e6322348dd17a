// Models of the verb auto.
#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/model/representations.h"
#include "graphpae/run/auto_parts.h"
#include "graphpae/run/models.h"
#include "graphpae/run/pretrain.h"
#include "graphpae/settings/recipes.h"

namespace graphpae::run {
namespace {

constexpr double kShare = 0.5;         // of the budget, for all models together
constexpr int64_t kFewestEpochs = 20;  // that are worth it
constexpr int64_t kMostEpochs = 400;
constexpr int64_t kWidth = 512;          // of a model of a graph
constexpr int64_t kMoleculeEpochs = 40;  // at most

// Seconds of an epoch on two processors, by what the models cost on graphs and molecules of docs/performance.md. It
// depends on the data alone, so that the same budget gives the same run on every machine.
double epoch_seconds(const Dataset& dataset) {
  if (!dataset.is_graph()) return 6e-5 * static_cast<double>(dataset.graph_set().num_nodes());
  const Graph& graph = dataset.graph();
  const auto nodes = static_cast<double>(graph.num_nodes());
  const auto edges = static_cast<double>(graph.adjacency().neighbours().size());
  const double width = kWidth;
  return 3e-10 * nodes * width * width + 6e-10 * edges * width + 0.02;
}

bool is_trainable(const Dataset& dataset, const Settings& settings, std::vector<std::string>& notes) {
  try {
    std::visit([&](const auto& data) { check_trainable(data, settings); }, dataset.content);
    return true;
  } catch (const Error& error) {
    notes.push_back(fmt::format("nothing is pre-trained: {}", error.what()));
    return false;
  }
}

}  // namespace

std::vector<AutoModel> auto_models(const Dataset& dataset, const AutoOptions& options,
                                   std::vector<std::string>& notes) {
  const bool wanted = options.blocks.empty() ||
                      std::find(options.blocks.begin(), options.blocks.end(), "pretrained") != options.blocks.end();
  if (!wanted) return {};
  std::vector<AutoModel> models = {{"graphpae", "graphpae", 0, 0}};
  if (dataset.is_graph()) models.push_back({"graphmae", "graphmae", 0, 0});
  const double seconds = epoch_seconds(dataset);
  const int64_t most = dataset.is_graph() ? kMostEpochs : kMoleculeEpochs;
  const int64_t fewest = dataset.is_graph() ? kFewestEpochs : 2;
  // One model well rather than two badly.
  while (!models.empty()) {
    const double each = kShare * options.budget / static_cast<double>(models.size());
    const auto epochs = static_cast<int64_t>(std::min(static_cast<double>(most), each / seconds));
    const int64_t wish = models.size() > 1 ? 3 * fewest : fewest;
    if (epochs >= wish) {
      for (AutoModel& model : models) {
        model.epochs = epochs >= 50 ? epochs / 10 * 10 : epochs;
        model.seconds = static_cast<double>(model.epochs) * seconds;
      }
      break;
    }
    models.pop_back();
  }
  if (models.empty()) {
    notes.push_back(
        fmt::format("nothing is pre-trained: {} epochs of {:.2g} s do not fit into half of a budget of {:g} s", fewest,
                    seconds, options.budget));
    return {};
  }
  if (!is_trainable(dataset, auto_settings(dataset, models.front(), options), notes)) return {};
  return models;
}

Settings auto_settings(const Dataset& dataset, const AutoModel& model, const AutoOptions& options) {
  Settings settings;
  if (!dataset.is_graph()) {
    settings = recipe_settings("molecules");
  } else if (model.method == "graphmae") {
    settings = recipe_settings("graphmae");
  } else {
    settings.dropout = 0.2;
    settings.mask_ratio = 0.5;
    settings.gamma = 3;
    settings.weight_decay = 2e-4;
    settings.eigenvectors =
        std::min<int64_t>(settings.eigenvectors, std::max<int64_t>(1, dataset.graph().num_nodes() / 2));
  }
  if (dataset.is_graph()) settings.width = kWidth;
  settings.method = model.method;
  settings.epochs = model.epochs;
  settings.seed = options.seed;
  return settings;
}

Block pretrained_block(const Dataset& dataset, const AutoModel& model, const AutoOptions& options,
                       const Context& context) {
  PretrainOptions training;
  training.run = options.run + "/pretraining/" + model.name;
  training.resume = RunDirectory::holds_run(training.run);
  training.force = !training.resume;
  training.data = options.data;
  training.settings = auto_settings(dataset, model, options);
  training.checkpoint_every = 20;
  Block block;
  block.name = "pretrained";
  block.about = fmt::format("{}, {} epochs", model.method, model.epochs);
  std::visit(
      [&](const auto& data) {
        pretrain(data, training, context);
        const auto trained = load_model(training.run);
        const InputOptions inputs = input_options(context, data, settings_of(*trained));
        const auto input = naming(options.data, [&] { return prepare(data, settings_of(*trained), inputs); });
        block.rows = std::make_shared<const Features>(embedded_rows(*trained, input));
      },
      dataset.content);
  return block;
}

}  // namespace graphpae::run
