// The library in one header: read a graph or molecules, pre-train, embed, keep the model, evaluate.
//
//   const auto graph = graphpae::load("my_graph").graph();
//   graphpae::Settings settings = graphpae::recipe_settings("chameleon");
//   const auto model = graphpae::pretrain(graph, settings);
//   const torch::Tensor embeddings = graphpae::embed(*model, graph);  // [N, width] float32
//   graphpae::save_model("my_model", *model);
//
//   const graphpae::Evaluation result =
//       graphpae::evaluate(graphpae::features_of(embeddings), graph.labels(), graph.num_classes(), graph.splits(), {});
//   result.strict->summary().mean;
//
// Molecules:
//
//   const auto molecules = graphpae::load("molecules.csv").graph_set();  // a column of SMILES
//   const auto encoder = graphpae::pretrain(molecules, graphpae::recipe_settings("molecules"));
//   const torch::Tensor rows = graphpae::embed(*encoder, molecules);  // [G, width] float32
//
// keep_freed_memory() of core/memory.h, called once at the start of a program, saves a tenth of the time of training.
// On a machine shared with others set GOMP_SPINCOUNT=5000 in the environment: idle OpenMP threads spin longer
// otherwise.
#pragma once

#include "graphpae/data/load.h"
#include "graphpae/evaluate/protocols.h"
#include "graphpae/model/model_file.h"
#include "graphpae/train/embed.h"
#include "graphpae/train/pretrain.h"
#include "graphpae/train/recipes.h"
#include "graphpae/train/representations.h"
#include "graphpae/train/settings.h"
