// Predictions on disk, by suffix: .csv and .tsv (a header, a name per row, empty fields for what is not known), .npy
// (an array [R,T] float64, NaN for what is not known).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graphpae/core/text_column.h"

namespace graphpae {

struct PredictionTable {
  std::string row_name;              // heads the first column: "smiles", "row", "node"
  TextColumn rows;                   // [R] names, or empty: rows are numbered
  std::string label_name;            // heads the second column, if there are labels
  std::vector<std::string> labels;   // [R] predicted classes, or empty
  std::vector<std::string> columns;  // [T]
  std::span<const double> values;    // [R,T], NaN: not known
};

// Throws a usage error if the suffix is none of these.
void check_prediction_path(const std::string& path);

// Written completely or not at all. Numbers of a table have seven digits, as many as float32 carries.
void write_predictions(const std::string& path, const PredictionTable& table);

}  // namespace graphpae
