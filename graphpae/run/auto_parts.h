// What the verb auto is made of: which models it pre-trains, and blocks as kernels see them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/blocks/block.h"
#include "graphpae/core/features.h"
#include "graphpae/core/split.h"
#include "graphpae/data/load.h"
#include "graphpae/evaluate/kernel_sum.h"
#include "graphpae/evaluate/learning_task.h"
#include "graphpae/run/auto.h"
#include "graphpae/settings/settings.h"

namespace graphpae::run {

// Names of the blocks that need no training, of those asked for (all if none are). Throws a usage error for others.
std::vector<std::string> auto_block_names(const Dataset& dataset, const std::vector<std::string>& asked);
Block auto_block(const Dataset& dataset, const std::string& name, const AutoOptions& options, const Context& context);

// The kernels a block is seen by: rows of length one, or with standardised columns, or as they are, linear and
// Gaussian; counts of molecules by min-max similarity, too. Kernels that see no difference between rows are left out.
KernelList kernels_of(const Block& block);

// Models that fit into the budget, the most promising first; none if it is too short, or nothing can be trained.
std::vector<AutoModel> auto_models(const Dataset& dataset, const AutoOptions& options, std::vector<std::string>& notes);
Settings auto_settings(const Dataset& dataset, const AutoModel& model, const AutoOptions& options);

// Pre-trains, or goes on with, the model in RUN/pretraining/NAME, and returns its rows as a block "pretrained".
Block pretrained_block(const Dataset& dataset, const AutoModel& model, const AutoOptions& options,
                       const Context& context);

// What is learnt, and the splits of it: of those of the data, or random ones; with a line in `notes` where none were
// given. Nothing for data without labels.
struct AutoSubject {
  LearningTask task;
  std::vector<Split> splits;
  std::string split_source;
  std::vector<std::string> outputs;  // names of classes or properties
};
std::optional<AutoSubject> auto_subject(const Dataset& dataset, const AutoOptions& options, const Context& context,
                                        std::vector<std::string>& notes);

// Files of the run.
void write_auto_predictions(const std::string& path, const Dataset& dataset, const AutoSubject& subject,
                            const std::vector<int32_t>& rows, const std::vector<float>& values);
void write_auto_rows(const std::string& path, const Dataset& dataset, const Features& rows);

}  // namespace graphpae::run
