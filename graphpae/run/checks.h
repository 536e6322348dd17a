// Whether training has come to something: a look at the embeddings after every training, in words.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/run/evaluation.h"

namespace graphpae::run {

struct Finding {
  std::string check;  // "collapsed", "rank", "raw_features", "untrained"
  std::string text;   // what is wrong, without a full stop
};

struct EmbeddingChecks {
  int64_t rows = 0, columns = 0;  // that were looked at; no rows: none were
  int64_t constant_columns = 0;   // in which all rows agree
  double effective_rank = 0;      // exp of the entropy of the shares of variance of the principal components
  std::vector<Finding> findings;  // what is wrong; nothing: all is well
};

// Of rows [N,D]; of more than 4,096 rows some, evenly spread.
EmbeddingChecks check_embeddings(const Features& rows);

// Adds what an evaluation tells: embeddings that are no better than the raw features or the untrained encoder.
void check_scores(EmbeddingChecks& checks, const EvaluationTable& table);

nlohmann::ordered_json checks_json(const EmbeddingChecks& checks);  // `checks` in results.json

}  // namespace graphpae::run
