#include "graphpae/run/match_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/model/model.h"

namespace graphpae::run {
namespace {

// The first few of many names.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::vector<std::string> shown(names.begin(), names.begin() + static_cast<int64_t>(std::min(kShown, names.size())));
  if (names.size() > kShown) shown.push_back("...");
  return fmt::format("{}", fmt::join(shown, ", "));
}

// Columns of x at `places`; -1: zeros.
Features chosen_columns(const Features& x, const std::vector<int64_t>& places) {
  const auto columns = static_cast<int64_t>(places.size());
  if (!x.is_sparse()) {
    Buffer<float> values(static_cast<size_t>(x.rows() * columns));
    for (int64_t row = 0; row < x.rows(); ++row) {
      for (int64_t c = 0; c < columns; ++c)
        values[row * columns + c] = places[c] < 0 ? 0.0f : x.dense_row(row)[static_cast<size_t>(places[c])];
    }
    return Features::dense(x.rows(), columns, std::move(values));
  }
  std::vector<int32_t> target(static_cast<size_t>(x.columns()), -1);
  for (int64_t c = 0; c < columns; ++c) {
    if (places[c] >= 0) target[static_cast<size_t>(places[c])] = static_cast<int32_t>(c);
  }
  std::vector<int64_t> offsets(1, 0);
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (int64_t row = 0; row < x.rows(); ++row) {
    const SparseRow entries = x.sparse_row(row);
    for (size_t k = 0; k < entries.columns.size(); ++k) {
      if (target[entries.columns[k]] < 0) continue;
      indices.push_back(target[entries.columns[k]]);
      values.push_back(entries.values[k]);
    }
    offsets.push_back(static_cast<int64_t>(values.size()));
  }
  return Features::sparse(x.rows(), columns, std::move(offsets), std::move(indices), std::move(values));
}

}  // namespace

void match_columns(const std::vector<std::string>& wanted, Dataset& dataset, MissingColumns missing) {
  if (!dataset.is_graph()) return;
  const std::vector<std::string> found = dataset.graph().feature_names();
  if (wanted.empty() || found.empty() || wanted == found) return;
  std::unordered_map<std::string, int64_t> place_of;
  for (size_t c = 0; c < found.size(); ++c) {
    if (!place_of.emplace(found[c], static_cast<int64_t>(c)).second)
      throw data_error(fmt::format("two feature columns are called '{}', so names do not tell them apart", found[c]));
  }
  std::vector<int64_t> places;
  std::vector<std::string> absent, extra;
  for (const std::string& name : wanted) {
    const auto place = place_of.find(name);
    places.push_back(place == place_of.end() ? -1 : place->second);
    if (place == place_of.end()) absent.push_back(name);
  }
  for (const std::string& name : found) {
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) extra.push_back(name);
  }
  if (!absent.empty() && missing == MissingColumns::error) {
    const std::string hint = absent.size() == 1 ? did_you_mean(absent[0], extra) : "";
    throw data_error(
        fmt::format("the model was trained on feature column{} {}, which the data do not have{}; "
                    "--missing-columns zero puts zeros there",
                    absent.size() > 1 ? "s" : "", listed(absent), hint));
  }
  if (!absent.empty())
    dataset.notes.push_back(fmt::format("{} of {} feature columns of the model are not in the data and are zero: {}",
                                        absent.size(), wanted.size(), listed(absent)));
  if (!extra.empty())
    dataset.notes.push_back(fmt::format("{} feature column{} the model does not know {} left out: {}", extra.size(),
                                        extra.size() > 1 ? "s" : "", extra.size() > 1 ? "are" : "is", listed(extra)));
  Graph& graph = std::get<Graph>(dataset.content);
  Features features = chosen_columns(graph.features(), places);
  dataset.content = std::move(graph).with_features(std::move(features), wanted);
}

void match_columns(const Model& model, Dataset& dataset, MissingColumns missing) {
  match_columns(model.input_shape().feature_names, dataset, missing);
}

}  // namespace graphpae::run
