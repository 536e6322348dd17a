// An evaluation as JSON and as a table for people.
#pragma once

#include "graphpae/cli/evaluation.h"

namespace graphpae::cli {

// The first row is the subject.
Json evaluation_json(const EvaluationPlan& plan, const std::vector<EvaluationRow>& rows);
std::string evaluation_text(const EvaluationPlan& plan, const std::vector<EvaluationRow>& rows);

}  // namespace graphpae::cli
