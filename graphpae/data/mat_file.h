// MATLAB .mat files, two kinds:
//  * facebook100: sparse `A` and `local_info` [N,7] (status, gender, major, second major, dorm, year, high
//    school; 0 = missing). Labels are gender - 1, 0 becoming unlabelled; features are the one-hot codes of the
//    other six columns, each with its values in ascending order.
//  * attributed networks: `Network`, `Attributes`, `Label` (1-based classes), in any case, also `Class`.
#pragma once

#include <string>

#include "graphpae/core/graph.h"

namespace graphpae {

GraphParts read_mat(const std::string& path);

}  // namespace graphpae
