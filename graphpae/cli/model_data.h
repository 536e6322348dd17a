// Data as a model is shown them.
#pragma once

#include <memory>

#include "graphpae/cli/data_flags.h"

namespace graphpae {
class Model;
}

namespace graphpae::cli {

// load_data(), with features in the order of the model (run/match_columns.h). Prints its notes if asked to.
Dataset load_data_for(const Model& model, const DataFlags& flags, const Common& common, bool say = true);

}  // namespace graphpae::cli
