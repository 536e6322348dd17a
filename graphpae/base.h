// Public. What needs no LibTorch: graphs and molecules, readers, positions, probes, settings.
// CMake: find_package(graphpae COMPONENTS base), target graphpae::base.
//
//   const auto graph = graphpae::load("my_graph").graph();
//   const auto positions = graphpae::laplacian_positions(graph.adjacency(), {.k = 50}, graphpae::all_threads());
#pragma once

#include "graphpae/core/memory.h"
#include "graphpae/data/generate.h"
#include "graphpae/data/load.h"
#include "graphpae/data/summary.h"
#include "graphpae/evaluate/graph_protocols.h"
#include "graphpae/evaluate/protocols.h"
#include "graphpae/io/row_files.h"
#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/settings/finetune_settings.h"
#include "graphpae/settings/recipes.h"
