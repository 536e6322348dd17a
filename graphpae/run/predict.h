// Prediction as a verb: what fine-tuned models say of every row of the data.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/io/row_files.h"
#include "graphpae/run/context.h"

namespace graphpae {
class Model;
class Predictor;
}  // namespace graphpae

namespace graphpae::run {

struct Predictors {
  std::vector<std::shared_ptr<Predictor>> models;  // one, or one per target

  const Model& model() const;                                      // the first
  std::string featurizer() const;                                  // that molecules must be read with; "" for one graph
  std::vector<std::pair<std::string, std::string>> units() const;  // of the targets that have one, by name
};

// Of a run or model directory of `finetune`. A run over several splits holds rivals, of which one is meant: a usage
// error. Throws a data error naming what is missing or does not fit.
Predictors load_predictors(const std::string& run);

struct Predictions {
  PredictionTable table;       // without values
  std::vector<double> values;  // [R,T], NaN: not a molecule

  int64_t columns() const { return static_cast<int64_t>(table.columns.size()); }
  int64_t rows() const { return static_cast<int64_t>(values.size()) / columns(); }
  int64_t empty_rows() const;
  void write(const std::string& path) const;  // io/row_files.h
};

// Throws a data error if the data are not described as those the models were trained on.
Predictions predict(const Predictors& predictors, const Graph& graph, const Context& context = {});
Predictions predict(const Predictors& predictors, const GraphSet& molecules, const Context& context = {});

}  // namespace graphpae::run
