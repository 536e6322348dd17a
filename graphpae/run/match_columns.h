// Feature columns by their names: data to embed may hold them in another order, and more of them, than the data a model
// was trained on.
#pragma once

#include <string>
#include <vector>

#include "graphpae/data/load.h"

namespace graphpae {
class Model;
}

namespace graphpae::run {

enum class MissingColumns { error, zero };

// Brings the features of a graph into the order in which the model knows them, if both have names: extra columns are
// left out with a note, missing ones are an error that names them, or zero with a note. Data or models without names
// stay as they are: places decide. Throws a data error.
void match_columns(const Model& model, Dataset& dataset, MissingColumns missing = MissingColumns::error);

// The same for names [F] instead of a model.
void match_columns(const std::vector<std::string>& wanted, Dataset& dataset, MissingColumns missing);

}  // namespace graphpae::run
