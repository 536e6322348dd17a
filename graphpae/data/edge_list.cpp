#include "graphpae/data/edge_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "graphpae/core/error.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

EdgeList read_named(const std::string& path, const EdgeColumns& columns) {
  const EdgeLines& layout = columns.lines;
  EdgeList list;
  std::unordered_map<std::string, int32_t> numbers;
  const auto number_of = [&](const std::string& name) {
    const auto [place, is_new] = numbers.try_emplace(name, static_cast<int32_t>(list.names.size()));
    if (is_new) list.names.push_back(name);
    return place->second;
  };
  LineReader reader(path);
  std::string_view line;
  std::vector<std::string> fields;
  list.blocks.emplace_back();
  if (layout.weight >= 0) list.weights.emplace_back();
  while (reader.next(line)) {
    if (reader.line_number() < layout.first_line) continue;
    line = trim(line);
    if (is_comment_line(line)) continue;
    if (!split_fields(line, layout.delimiter, fields)) throw reader.error("a quote is not closed");
    if (static_cast<int>(fields.size()) != layout.columns)
      throw reader.error(fmt::format("{} columns, expected {}", fields.size(), layout.columns));
    for (std::string& field : fields) field = std::string(trim(field));
    const std::string &source = fields[layout.source], &target = fields[layout.target];
    if (source.empty() || target.empty()) throw reader.error("a node name is empty");
    if (layout.weight >= 0) {
      const std::string& text = fields[layout.weight];
      const auto weight = parse_real(text);
      if (!weight || !std::isfinite(static_cast<float>(*weight)))
        throw reader.error(fmt::format("the weight '{}' is not a finite number", text.substr(0, 40)));
      list.weights.back().push_back(static_cast<float>(*weight));
    }
    const int32_t src = number_of(source);
    list.blocks.back().push_back({src, number_of(target)});
  }
  list.num_nodes = list.names.size();
  return list;
}

ColumnUse describe(const std::string& path, const EdgeColumns& columns) {
  const EdgeLines& lines = columns.lines;
  ColumnUse use{file_name(path), {}};
  if (!columns.has_edges) return use;
  use.uses = {{"source", columns.name(lines.source)}, {"target", columns.name(lines.target)}};
  if (lines.weight >= 0) use.uses.emplace_back("weight", columns.name(lines.weight));
  const std::vector<std::string> rest = columns.left_out();
  if (!rest.empty()) use.uses.emplace_back("left out", fmt::format("{}", fmt::join(rest, ", ")));
  use.uses.emplace_back("header", columns.has_header ? "yes" : "no");
  use.uses.emplace_back("ids", columns.numeric ? "numbers" : "names");
  return use;
}

}  // namespace

EdgeList read_edge_list(const std::string& path, const EdgeListOptions& options) {
  EdgeColumns columns = recognise_edge_columns(path, options.ids, options.columns);
  EdgeList list;
  if (columns.has_edges && columns.numeric) {
    columns.lines.num_nodes = options.num_nodes;
    columns.lines.base = options.base;
    EdgeRows rows = read_edge_rows(path, columns.lines, options.threads);
    list.blocks = std::move(rows.edges);
    list.weights = std::move(rows.weights);
    list.num_nodes = std::max(nodes_in(list.blocks), options.num_nodes);
  } else if (columns.has_edges) {
    list = read_named(path, columns);
  } else {
    list.num_nodes = std::max<int64_t>(0, options.num_nodes);
  }
  list.columns = describe(path, columns);
  list.announced_nodes = columns.announced_nodes;
  list.leads_somewhere = columns.leads_somewhere;
  const std::vector<std::string> rest = columns.left_out();
  if (!rest.empty()) {
    std::vector<std::string> shown(rest.begin(), rest.begin() + static_cast<int64_t>(std::min<size_t>(rest.size(), 8)));
    if (shown.size() < rest.size()) shown.push_back("...");
    const int source = columns.lines.source + 1, target = columns.lines.target + 1;
    std::string hint;
    if (columns.lines.weight < 0 && rest.size() == 1 && !rest[0].ends_with("(without a name)"))
      hint = fmt::format("; if it holds weights, say --columns {},{},{}", source, target, 6 - source - target);
    list.notes.push_back(fmt::format("{}: column{} {} left out{}", path, shown.size() > 1 ? "s" : "",
                                     fmt::format("{} {}", fmt::join(shown, ", "), shown.size() > 1 ? "are" : "is"),
                                     hint));
  }
  return list;
}

}  // namespace graphpae
