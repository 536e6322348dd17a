#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graphpae/analyze/neighbour_embedding.h"
#include "graphpae/analyze/principal_components.h"
#include "graphpae/core/rng.h"
#include "graphpae/data/chemistry.h"
#include "graphpae/report/embedding_map.h"

namespace graphpae {
namespace {

constexpr int64_t kComponents = 50;  // what the neighbour embedding sees of the rows
constexpr size_t kLongestId = 200;
constexpr int64_t kRanges = 5;

// At most `points` of `rows`, in ascending order.
std::vector<int32_t> sampled(std::vector<int32_t> rows, const MapOptions& options) {
  const auto n = static_cast<int32_t>(rows.size());
  if (n <= options.points) return rows;
  std::vector<int32_t> order = Rng(options.seed).permutation(n), chosen;
  order.resize(static_cast<size_t>(options.points));
  std::sort(order.begin(), order.end());
  for (const int32_t place : order) chosen.push_back(rows[place]);
  return chosen;
}

EmbeddingMap::Projection projection(const std::string& name, const std::string& note, const std::vector<double>& points,
                                    int64_t stride) {
  EmbeddingMap::Projection result{name, note, {}, {}};
  double largest = 1e-300;
  for (const double value : points) largest = std::max(largest, std::abs(value));
  // Four digits of a coordinate are a tenth of a pixel.
  const double unit = std::pow(10, std::ceil(std::log10(largest)) - 4);
  const auto rounded = [&](double value) { return std::round(value / unit) * unit; };
  for (size_t i = 0; i + 1 < points.size() + (stride == 1); i += static_cast<size_t>(stride)) {
    result.x.push_back(rounded(points[i]));
    result.y.push_back(stride > 1 ? rounded(points[i + 1]) : 0);
  }
  return result;
}

void add_projections(EmbeddingMap& map, const Features& rows, const MapOptions& options) {
  const PrincipalComponents components = principal_components(rows, kComponents, options.threads);
  NeighbourEmbeddingOptions neighbours;
  neighbours.progress = options.progress;
  const std::vector<double> placed =
      neighbour_embedding(components.scores, components.rows, components.components, neighbours, options.threads);
  const std::string of =
      map.sampled() ? fmt::format(" Of {} {}s, {} drawn at random are shown.", map.total, map.kind, map.ids.size())
                    : "";
  map.projections.push_back(projection(
      "t-SNE",
      fmt::format("t-SNE of {} principal components, perplexity {:.0f}: neighbours on the map are neighbours in the "
                  "embedding; distances between groups mean little.{}",
                  components.components, std::min(neighbours.perplexity, static_cast<double>(components.rows - 1) / 3),
                  of),
      placed, 2));
  double share = 0;
  for (size_t k = 0; k < std::min<size_t>(2, components.shares.size()); ++k) share += components.shares[k];
  map.projections.push_back(
      projection("PCA", fmt::format("The first two principal components, {:.1f} % of the variance.{}", 100 * share, of),
                 components.scores, components.components));
}

std::string shortened(std::string id) {
  if (id.size() > kLongestId) id = id.substr(0, kLongestId) + "...";
  return id;
}

// Targets are classes, or numbers that fall into ranges with as many points each.
void group_by_target(EmbeddingMap& map, const std::vector<double>& values) {
  std::vector<double> present = values;
  std::erase_if(present, [](double value) { return std::isnan(value); });
  std::sort(present.begin(), present.end());
  map.ordered = !std::all_of(present.begin(), present.end(), [](double value) { return value == 0 || value == 1; });
  std::vector<double> ends;  // of all groups but the last
  if (!map.ordered) {
    map.groups = {"0", "1"};
    ends = {1};
  }
  for (int64_t r = 1; r < kRanges && map.ordered; ++r) {
    const double end = present[present.size() * static_cast<size_t>(r) / kRanges];
    if (end > present.front() && (ends.empty() || end > ends.back())) ends.push_back(end);
  }
  for (size_t r = 0; r <= ends.size() && map.ordered; ++r) {
    map.groups.push_back(fmt::format("{:.4g} .. {:.4g}", r == 0 ? present.front() : ends[r - 1],
                                     r == ends.size() ? present.back() : ends[r]));
  }
  const auto missing = static_cast<int32_t>(map.groups.size());
  if (present.size() < values.size()) map.groups.emplace_back("no label");
  for (const double value : values) {
    map.group.push_back(std::isnan(value)
                            ? missing
                            : static_cast<int32_t>(std::upper_bound(ends.begin(), ends.end(), value) - ends.begin()));
  }
}

void add_drawings(EmbeddingMap& map, const TextColumn& texts, const MapOptions& options) {
  const auto drawn = molecule_drawings(texts, options.threads);
  int64_t bytes = 0, count = 0;
  for (const auto& drawing : drawn) {
    const bool room = drawing && bytes + static_cast<int64_t>(drawing->size()) <= options.drawing_bytes;
    map.drawings.push_back(room ? *drawing : "");
    if (!room) continue;
    bytes += static_cast<int64_t>(drawing->size());
    ++count;
  }
  if (count < static_cast<int64_t>(drawn.size()))
    map.notes.push_back(
        fmt::format("The structures of {} of {} molecules are drawn, to keep the page small.", count, drawn.size()));
}

}  // namespace

EmbeddingMap make_map(const Features& rows, const Graph& graph, const MapOptions& options) {
  std::vector<int32_t> all(static_cast<size_t>(graph.num_nodes()));
  std::iota(all.begin(), all.end(), 0);
  const std::vector<int32_t> nodes = sampled(std::move(all), options);
  EmbeddingMap map;
  map.total = graph.num_nodes();
  if (graph.labels().empty()) {
    map.groups = {"nodes"};
  } else {
    map.grouped_by = "class";
    for (int64_t c = 0; c < graph.num_classes(); ++c)
      map.groups.push_back(graph.class_names().empty() ? std::to_string(c) : graph.class_names()[c]);
  }
  bool unlabelled = false;
  for (const int32_t node : nodes) {
    map.ids.push_back(shortened(graph.node_name(node)));
    const int32_t label = graph.labels().empty() ? 0 : graph.labels()[node];
    unlabelled = unlabelled || label < 0;
    map.group.push_back(label < 0 ? static_cast<int32_t>(graph.num_classes()) : label);
  }
  if (unlabelled) map.groups.emplace_back("no label");
  add_projections(map, rows.gather(nodes), options);
  return map;
}

EmbeddingMap make_map(const Features& rows, const GraphSet& molecules, const MapOptions& options) {
  const GraphSetParts& parts = molecules.parts();
  std::vector<int32_t> with_atoms;
  for (int32_t g = 0; g < molecules.num_graphs(); ++g) {
    if (!molecules.has_structure() || parts.node_offsets[g] < parts.node_offsets[g + 1]) with_atoms.push_back(g);
  }
  EmbeddingMap map;
  map.kind = "molecule";
  map.total = static_cast<int64_t>(with_atoms.size());
  const std::vector<int32_t> shown = sampled(std::move(with_atoms), options);
  std::vector<double> values;
  TextColumn texts;
  for (const int32_t g : shown) {
    const std::string text(parts.texts.size() > g ? parts.texts[g] : "");
    const bool smiles = !text.empty() && text.find('\n') == std::string::npos;
    map.ids.push_back(smiles ? shortened(text) : fmt::format("row {}", g));
    texts.push_back(text);
    if (molecules.num_tasks() > 0) values.push_back(parts.targets[g * molecules.num_tasks()]);
  }
  const bool labelled = std::any_of(values.begin(), values.end(), [](double value) { return !std::isnan(value); });
  if (!labelled) {
    map.groups = {"molecules"};
    map.group.assign(shown.size(), 0);
  } else {
    map.grouped_by = parts.task_names.front();
    group_by_target(map, values);
  }
  if (parts.texts.size() > 0) add_drawings(map, texts, options);
  add_projections(map, rows.gather(shown), options);
  return map;
}

}  // namespace graphpae
