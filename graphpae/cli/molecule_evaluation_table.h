// An evaluation of molecules as JSON and as a table for people.
#pragma once

#include "graphpae/cli/molecule_evaluation.h"

namespace graphpae::cli {

// The first row is the subject.
Json evaluation_json(const MoleculePlan& plan, const std::vector<MoleculeRow>& rows);
std::string evaluation_text(const MoleculePlan& plan, const std::vector<MoleculeRow>& rows);

}  // namespace graphpae::cli
