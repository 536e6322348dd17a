#include "graphpae/data/split_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

enum class Part { none, train, val, test };

std::optional<Part> part_named(const std::string& text) {
  const std::string word = lower(text);
  if (is_missing_value(word) || word == "-") return Part::none;
  if (word == "train" || word == "training") return Part::train;
  if (word == "val" || word == "valid" || word == "validation" || word == "dev") return Part::val;
  if (word == "test" || word == "testing") return Part::test;
  return std::nullopt;
}

}  // namespace

SplitTable read_split_table(const std::string& path, const NodeIndex* index, int64_t num_nodes,
                            const std::string& id_column) {
  const NodeTableLayout layout = recognise_node_table(path, NodeTableKind::splits, id_column, index);
  std::vector<size_t> places;
  std::vector<std::string> names;
  for (size_t c = 0; c < layout.columns; ++c) {
    if (static_cast<int>(c) == layout.key) continue;
    places.push_back(c);
    names.push_back(layout.column_name(c));
  }
  SplitTable table{std::vector<Split>(places.size()), layout.use()};
  table.columns.uses.emplace_back("splits", fmt::format("{}", fmt::join(names, ", ")));
  std::vector<bool> given(static_cast<size_t>(num_nodes));
  NodeRowReader reader(layout);
  std::vector<std::string> fields;
  int64_t rows = 0;
  while (reader.next(fields)) {
    const int64_t node = reader.node(fields, index);
    if (node >= num_nodes)
      throw reader.error(fmt::format("a split for node {}, but there are {} nodes", node, num_nodes));
    if (given[node]) throw reader.error(fmt::format("a second row for node '{}'", fields[layout.key]));
    given[node] = true;
    ++rows;
    for (size_t s = 0; s < places.size(); ++s) {
      const std::string& text = fields[places[s]];
      const std::optional<Part> part = part_named(text);
      if (!part)
        throw reader.error(
            fmt::format("column '{}': '{}' is none of train, val and test", names[s], text.substr(0, 40)));
      Split& split = table.splits[s];
      if (*part == Part::none) continue;
      (*part == Part::train ? split.train
       : *part == Part::val ? split.val
                            : split.test)
          .push_back(static_cast<int32_t>(node));
    }
  }
  if (!layout.has_key() && rows != num_nodes)
    throw data_error(fmt::format("{}: {} rows for {} nodes", path, rows, num_nodes));
  if (rows == 0) throw data_error(fmt::format("{}: holds no rows", path));
  naming(path, [&] { return check_splits(table.splits, num_nodes), 0; });
  return table;
}

}  // namespace graphpae
