// FeaturePlan: how the features that a model sees are made of a graph: which columns of the data, which ones made of
// its edges, how scaled. Fitted once, on the graph that is learnt from; kept with the model and followed for every
// graph the model sees. No LibTorch.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

struct FeaturePlan {
  bool takes_given = true;
  int64_t given = 0;               // columns of the data it was fitted on
  std::vector<std::string> names;  // of those, or empty; config.json has them apart
  std::vector<int32_t> dropped;    // of those, ascending
  bool divide_rows = false;        // of the given ones

  bool takes_structure = false;  // columns made of edges (positions/structure.h) come after the given ones
  int64_t walks = 0, positions = 0, neighbours = 0;
  uint64_t seed = 0;
  std::string graph;  // a hash of the edges it was fitted on

  // What is seen is (value - shift) * factor, column by column. [F] or empty: as they are.
  std::vector<float> shift, factor;

  // Throws a data error for a graph whose features do not number `given`.
  void check_fits(const Graph& graph) const;
};

// Whether settings say that rows are divided by their sums.
inline bool divides_rows(const Settings& s) { return s.row_normalize || s.scale == Scale::rows; }
// The same of rows that are about to be read: a plan with structure has done it already.
bool divides_rows(const Settings& s, const Graph& seen);

// For a new run: node_features=auto and scale=auto become what is best for the graph, as docs/data.md says; `notes`
// receive a line for each choice that a user should know. Throws a data error if features are asked for that are not
// there.
void choose_features(Settings& settings, const Graph& graph, std::vector<std::string>& notes);

// Null if the model sees the features as they are. Throws a data error for a graph without features that are to be
// given, and a numerical error if structural positions cannot be computed.
std::shared_ptr<const FeaturePlan> fit_features(const Graph& graph, const Settings& settings,
                                                std::vector<std::string>& notes, Threads threads = {});

// The graph with the features of the plan. Null plan: the graph itself, which must outlive the result.
std::shared_ptr<const Graph> follow(std::shared_ptr<const FeaturePlan> plan, const Graph& graph,
                                    std::vector<std::string>& notes, Threads threads = {});

// In the config.json of a model. Throws a data error for what is no plan.
nlohmann::ordered_json to_json(const FeaturePlan& plan);
FeaturePlan feature_plan_from(const nlohmann::ordered_json& json);

}  // namespace graphpae
