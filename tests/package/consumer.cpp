#include <graphpae/data/generate.h>
#include <graphpae/data/summary.h>

#include <cstdio>

int main() {
  const graphpae::Graph graph = graphpae::generate({.nodes = 100, .edges = 500}, graphpae::Threads{1});
  std::printf("%ld nodes, %ld components\n", graph.num_nodes(), graphpae::summarise(graph).components);
  return graph.num_nodes() == 100 ? 0 : 1;
}
