// The whole library through its old name, which forwards: pre-train, keep, load, embed, fine-tune, predict.
#include <graphpae/graph_pae.h>

int main() {
  const graphpae::Graph graph = graphpae::generate({.nodes = 100, .edges = 500}, graphpae::Threads{1});
  graphpae::Settings settings = graphpae::recipe_settings("chameleon");
  settings.layers = 2;
  settings.width = 16;
  settings.eigenvectors = 8;
  settings.epochs = 2;
  const auto model = graphpae::pretrain(graph, settings);
  graphpae::save_model("model", *model);
  const torch::Tensor rows = graphpae::embed(*graphpae::load_model("model"), graph);
  graphpae::Predictor predictor = graphpae::finetune(model.get(), graph, settings, {}, graph.splits().at(0));
  const auto shares = graphpae::predict(predictor, graph);
  return rows.equal(graphpae::embed(*model, graph)) && shares.size() == size_t(100 * graph.num_classes()) ? 0 : 1;
}
