#include "graphpae/settings/feature_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "graphpae/core/error.h"
#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/positions/position_file.h"
#include "graphpae/positions/structure.h"
#include "graphpae/settings/feature_columns.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNamedColumns = 5;  // in a note

bool takes_given(const Graph& graph, const Settings& s) {
  if (s.node_features == FeatureSource::automatic) return graph.features().columns() > 0;
  return s.node_features != FeatureSource::structure;
}

// "a, b, c, ..." or places where columns have no names.
std::string column_list(const Graph& graph, const std::vector<int32_t>& columns) {
  std::string text;
  for (size_t k = 0; k < std::min(columns.size(), kNamedColumns); ++k) {
    const std::vector<std::string>& names = graph.feature_names();
    text += (k > 0 ? ", " : "") + (names.empty() ? std::to_string(columns[k]) : names[columns[k]]);
  }
  return columns.size() > kNamedColumns ? text + ", ..." : text;
}

[[noreturn]] void throw_without_features() {
  throw data_error(
      "the graph has no node features; --features names a file of them, and node_features=structure makes some from "
      "the edges");
}

std::string edges_hash(const Graph& graph) { return position_key(graph.adjacency(), {}); }

struct Columns {
  Features rows;
  std::vector<std::string> names;
};

std::vector<std::string> numbered(const char* what, int64_t first, int64_t count) {
  std::vector<std::string> names;
  for (int64_t k = 0; k < count; ++k) names.push_back(fmt::format("{} {}", what, first + k));
  return names;
}

Columns structure_of(const Graph& graph, const FeaturePlan& plan, Threads threads) {
  const int64_t n = graph.num_nodes();
  Columns all{Features::dense(n, 3, degree_rows(graph.adjacency(), threads)),
              {"degree", "degree of neighbours", "deviation of that"}};
  const auto add = [&](Buffer<float> values, std::vector<std::string> names) {
    all.rows = side_by_side(all.rows, Features::dense(n, static_cast<int64_t>(names.size()), std::move(values)));
    all.names.insert(all.names.end(), names.begin(), names.end());
  };
  if (plan.walks >= 2)
    add(walk_rows(graph.adjacency(), plan.walks, plan.seed, threads), numbered("walk", 2, plan.walks - 1));
  if (plan.positions > 0) {
    PositionOptions options;
    options.k = plan.positions;
    options.skip_zero = true;
    const Positions found = laplacian_positions(graph.adjacency(), options, threads);
    if (found.status != PositionStatus::converged)
      throw numerical_error("the eigenvectors for structural features could not be computed; structure.positions=0");
    Buffer<float> values(found.eigenvectors.size());
    const double scale = std::sqrt(static_cast<double>(n));
    for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(scale * found.eigenvectors[k]);
    add(std::move(values), numbered("position", 0, plan.positions));
  }
  if (plan.neighbours > 0)
    add(neighbour_rows(graph.adjacency(), plan.neighbours, plan.seed, threads),
        numbered("neighbours", 0, plan.neighbours));
  return all;
}

Columns given_of(const Graph& graph, const FeaturePlan& plan) {
  const Features kept = without_columns(graph.features(), plan.dropped);
  Columns given{plan.divide_rows ? row_normalised(kept) : kept, {}};
  for (size_t c = 0; c < graph.feature_names().size(); ++c) {
    if (!std::binary_search(plan.dropped.begin(), plan.dropped.end(), static_cast<int32_t>(c)))
      given.names.push_back(graph.feature_names()[c]);
  }
  return given;
}

// Appends what makes mean 0 and deviation 1 of columns of dense rows, and leaves others as they are.
void fit_scale(FeaturePlan& plan, const Features& rows, const std::vector<ColumnFacts>& facts, bool leave_bits) {
  for (const ColumnFacts& column : facts) {
    const bool left = column.deviation == 0 || (leave_bits && column.bits);
    plan.shift.push_back(left || rows.is_sparse() ? 0.0f : static_cast<float>(column.mean));
    plan.factor.push_back(left ? 1.0f : static_cast<float>(1 / column.deviation));
  }
}

Features scaled_part(const Features& rows, const FeaturePlan& plan, size_t first) {
  if (plan.shift.empty()) return rows;
  if (plan.shift.size() < first + static_cast<size_t>(rows.columns()))
    throw data_error(fmt::format("the model scales {} columns, the data make {}", plan.shift.size(),
                                 first + static_cast<size_t>(rows.columns())));
  const auto part = [&](const std::vector<float>& of) {
    return std::span<const float>(of).subspan(first, static_cast<size_t>(rows.columns()));
  };
  return scaled(rows, part(plan.shift), part(plan.factor));
}

}  // namespace

void FeaturePlan::check_fits(const Graph& data) const {
  const int64_t found = data.features().columns();
  if (takes_given && found != given)
    throw data_error(fmt::format("the model was trained on {} features per node, the data have {}", given, found));
}

bool divides_rows(const Settings& s, const Graph& seen) {
  return divides_rows(s) && !(seen.feature_plan() && seen.feature_plan()->takes_structure);
}

void choose_features(Settings& s, const Graph& graph, std::vector<std::string>& notes) {
  const Features& x = graph.features();
  if (s.node_features == FeatureSource::automatic) {
    const bool useful = varies(x);
    s.node_features = useful ? FeatureSource::given : FeatureSource::structure;
    if (!useful)
      notes.push_back(fmt::format(
          "{}: features are made from the edges (node_features=structure)",
          x.columns() == 0 ? "the graph has no node features" : "all nodes have the same features, which say nothing"));
  }
  if (s.node_features == FeatureSource::structure) {
    s.scale = Scale::none;
    s.row_normalize = s.drop_constant = false;
    return;
  }
  if (x.columns() == 0) throw_without_features();
  if (s.scale != Scale::automatic) return;
  s.scale = !s.row_normalize && wants_standard(x, column_facts(x)) ? Scale::standard : Scale::none;
  if (s.scale == Scale::standard)
    notes.push_back("feature columns get mean 0 and deviation 1 (scale=standard; scale=none leaves them)");
}

std::shared_ptr<const FeaturePlan> fit_features(const Graph& graph, const Settings& s, std::vector<std::string>& notes,
                                                Threads threads) {
  FeaturePlan plan;
  plan.takes_given = takes_given(graph, s);
  plan.takes_structure = !plan.takes_given || s.node_features == FeatureSource::both;
  plan.given = graph.features().columns();
  plan.names = graph.feature_names();
  if (plan.takes_given && plan.given == 0) throw_without_features();
  const bool standard = plan.takes_given && s.scale == Scale::standard;
  std::vector<ColumnFacts> facts;
  if (plan.takes_given && (s.drop_constant || standard)) facts = column_facts(graph.features());
  if (plan.takes_given && s.drop_constant) {
    for (size_t c = 0; c < facts.size(); ++c) {
      if (facts[c].constant()) plan.dropped.push_back(static_cast<int32_t>(c));
    }
    if (static_cast<int64_t>(plan.dropped.size()) == plan.given)
      throw data_error("all feature columns are constant; node_features=structure makes some from the edges");
    std::erase_if(facts, [](const ColumnFacts& f) { return f.constant(); });
    if (!plan.dropped.empty())
      notes.push_back(
          fmt::format("{} of {} feature columns are the same for all nodes and left out: {} (drop_constant)",
                      plan.dropped.size(), plan.given, column_list(graph, plan.dropped)));
  }
  if (!standard && plan.dropped.empty() && !plan.takes_structure) return nullptr;
  if (standard) fit_scale(plan, graph.features(), facts, true);
  if (plan.takes_structure) {
    plan.divide_rows = plan.takes_given && divides_rows(s);
    plan.walks = s.structure_walks;
    plan.positions = s.structure_positions;
    plan.neighbours = s.structure_neighbours;
    plan.seed = static_cast<uint64_t>(s.seed);
    plan.graph = edges_hash(graph);
    const size_t kept = plan.takes_given ? static_cast<size_t>(plan.given) - plan.dropped.size() : 0;
    plan.shift.resize(kept, 0.0f);
    plan.factor.resize(kept, 1.0f);
    const Features rows = structure_of(graph, plan, threads).rows;
    fit_scale(plan, rows, column_facts(rows), false);
    // All projections together vary as much as all other columns together: more would drown positions.
    const int64_t others = rows.columns() - plan.neighbours;
    const float weight =
        static_cast<float>(std::sqrt(static_cast<double>(others) / static_cast<double>(plan.neighbours)));
    for (int64_t c = 0; c < plan.neighbours && others < plan.neighbours; ++c) *(plan.factor.rbegin() + c) *= weight;
  } else {
    plan.divide_rows = false;  // left to where the model reads its features
  }
  return std::make_shared<const FeaturePlan>(std::move(plan));
}

std::shared_ptr<const Graph> follow(std::shared_ptr<const FeaturePlan> plan, const Graph& graph,
                                    std::vector<std::string>& notes, Threads threads) {
  if (plan == nullptr) return {std::shared_ptr<void>(), &graph};
  plan->check_fits(graph);
  std::optional<Columns> seen;
  size_t first = 0;
  if (plan->takes_given) {
    seen = given_of(graph, *plan);
    first = static_cast<size_t>(seen->rows.columns());
    seen->rows = scaled_part(seen->rows, *plan, 0);
  }
  if (plan->takes_structure) {
    if (plan->positions + plan->neighbours > 0 && plan->graph != edges_hash(graph))
      notes.push_back(
          "the model knows nodes by their places in the graph it was trained on: rows of this other graph mean "
          "something else (node_features=structure)");
    Columns made = structure_of(graph, *plan, threads);
    made.rows = scaled_part(made.rows, *plan, first);
    if (!seen) {
      seen = std::move(made);
    } else {
      if (!seen->names.empty()) seen->names.insert(seen->names.end(), made.names.begin(), made.names.end());
      seen->rows = side_by_side(seen->rows, made.rows);
    }
  }
  Graph copy = graph;
  return std::make_shared<const Graph>(
      std::move(copy).with_features(std::move(seen->rows), std::move(seen->names), std::move(plan)));
}

Json to_json(const FeaturePlan& plan) {
  Json json = Json::object();
  if (plan.takes_given) json = {{"columns", plan.given}, {"dropped", plan.dropped}, {"divide_rows", plan.divide_rows}};
  if (plan.takes_structure)
    json["structure"] = {{"walks", plan.walks},
                         {"positions", plan.positions},
                         {"neighbours", plan.neighbours},
                         {"seed", plan.seed},
                         {"graph", plan.graph}};
  json["shift"] = plan.shift;
  json["factor"] = plan.factor;
  return json;
}

FeaturePlan feature_plan_from(const Json& json) {
  FeaturePlan plan;
  try {
    plan.takes_given = json.contains("columns");
    if (plan.takes_given) {
      plan.given = json.at("columns");
      plan.dropped = json.at("dropped").get<std::vector<int32_t>>();
      plan.divide_rows = json.at("divide_rows");
    }
    plan.takes_structure = json.contains("structure");
    if (plan.takes_structure) {
      const Json& structure = json.at("structure");
      plan.walks = structure.at("walks");
      plan.positions = structure.at("positions");
      plan.neighbours = structure.at("neighbours");
      plan.seed = structure.at("seed");
      plan.graph = structure.at("graph");
    }
    plan.shift = json.at("shift").get<std::vector<float>>();
    plan.factor = json.at("factor").get<std::vector<float>>();
  } catch (const Json::exception& error) {
    throw data_error(fmt::format("'inputs' does not say how features are made: {}", error.what()));
  }
  const auto in_range = [](int64_t value, int64_t most) { return value >= 0 && value <= most; };
  const bool ordered = std::is_sorted(plan.dropped.begin(), plan.dropped.end()) &&
                       (plan.dropped.empty() || (plan.dropped.front() >= 0 && plan.dropped.back() < plan.given));
  if (!ordered || !(plan.takes_given || plan.takes_structure) || !in_range(plan.given, INT32_MAX) ||
      !in_range(plan.walks, 64) || !in_range(plan.positions, 4096) || !in_range(plan.neighbours, 65536) ||
      plan.shift.size() != plan.factor.size())
    throw data_error("'inputs' does not say how features are made");
  return plan;
}

}  // namespace graphpae
