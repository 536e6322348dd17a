// Evaluation on the command line, for the verbs evaluate, pretrain and demo: its flags and its table.
#pragma once

#include <string>

#include "graphpae/cli/command.h"
#include "graphpae/run/evaluation.h"

namespace graphpae::cli {

// How the nodes of a graph are split, for a verb that trains on them: of the flags below --split, --num-splits,
// --split-seed and --stratified.
void add_split_flags(CLI::App& app, run::EvaluateOptions& options);

// `switch_flag`: what must be given for the flags to mean anything, if not null.
void add_evaluate_flags(CLI::App& app, run::EvaluateOptions& options, CLI::Option* switch_flag = nullptr);

// For people; as wide as the terminal, if stdout is one.
std::string evaluation_text(const run::EvaluationTable& table);

}  // namespace graphpae::cli
