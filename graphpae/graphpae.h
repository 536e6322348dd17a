// Public. The library in one header: read a graph or molecules, pre-train, embed, keep the model, evaluate, fine-tune,
// predict. CMake: find_package(graphpae), target graphpae::graphpae.
//
//   const auto graph = graphpae::load("my_graph").graph();
//   graphpae::Settings settings = graphpae::recipe_settings("chameleon");  // settings.method: graphpae, graphmae
//   const auto model = graphpae::pretrain(graph, settings);
//   const torch::Tensor rows = graphpae::embed(*model, graph);  // [N, width] float32
//   graphpae::save_model("my_model", *model);
//   const auto result =
//       graphpae::evaluate(graphpae::features_of(rows), graph.labels(), graph.num_classes(), graph.splits(), {});
//   result.strict->summary().mean;
//
// Molecules, and labels:
//
//   const auto molecules = graphpae::load("molecules.csv").graph_set();  // a column of SMILES
//   const auto encoder = graphpae::pretrain(molecules, graphpae::recipe_settings("molecules"));
//   auto predictor = graphpae::finetune(encoder.get(), molecules, encoder->settings(), {},
//   molecules.parts().splits[0]); const std::vector<double> values = graphpae::predict(predictor, molecules);  // [G,T]
//   graphpae::save_predictor("my_predictor", predictor, "");
//
// Run directories with checkpoints, as the program keeps them, are made by the functions of graphpae/run/: see
// run/pretrain.h, run/finetune.h, run/evaluation.h.
//
// keep_freed_memory() of core/memory.h, called once at the start of a program, saves a tenth of the time of training.
// On a machine shared with others set GOMP_SPINCOUNT=5000 in the environment: idle OpenMP threads spin longer
// otherwise.
#pragma once

#include "graphpae/base.h"
#include "graphpae/methods/method.h"
#include "graphpae/model/embed.h"
#include "graphpae/model/model.h"
#include "graphpae/model/predictor.h"
#include "graphpae/model/representations.h"
#include "graphpae/run/evaluation.h"
#include "graphpae/run/finetune.h"
#include "graphpae/run/pretrain.h"
#include "graphpae/train/finetune.h"
#include "graphpae/train/pretrain.h"
