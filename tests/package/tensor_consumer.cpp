#include <graphpae/ops/tensors.h>
#include <graphpae/data/generate.h>

int main() {
  const graphpae::Graph graph = graphpae::generate({.nodes = 100, .edges = 500}, graphpae::Threads{1});
  return graphpae::features_tensor(graph.features()).size(0) == 100 ? 0 : 1;
}
