// Pre-trains on a graph and writes the embeddings: ./pretrain_and_embed GRAPH EMBEDDINGS.npy
#include <graphpae/graphpae.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const graphpae::Graph graph = graphpae::load(argv[1]).graph();
  graphpae::Settings settings = graphpae::recipe_settings("chameleon");
  settings.epochs = 20;
  settings.width = 64;
  const auto model = graphpae::pretrain(graph, settings);
  const auto rows = graphpae::embed(*model, graph);  // [N, width] float32
  graphpae::write_embeddings(argv[2], {rows.data_ptr<float>(), size_t(rows.numel())}, rows.size(0), rows.size(1), {});
  graphpae::save_model("model", *model);
}
