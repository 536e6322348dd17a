// What needs no LibTorch.
#include <graphpae/base.h>

#include <cstdio>

int main() {
  const graphpae::Graph graph = graphpae::generate({.nodes = 100, .edges = 500}, graphpae::Threads{1});
  graphpae::PositionOptions options;
  options.k = 3;
  const auto positions = graphpae::laplacian_positions(graph.adjacency(), options, graphpae::Threads{1}, {});
  std::printf("%ld nodes, %ld components, %ld positions each, recipe chameleon: %ld layers\n", graph.num_nodes(),
              graphpae::summarise(graph).components, positions.k, graphpae::recipe_settings("chameleon").layers);
  return graph.num_nodes() == 100 && positions.k == 3 ? 0 : 1;
}
