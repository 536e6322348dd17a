#include "graphpae/data/node_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/suggest.h"
#include "graphpae/data/table_sample.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

// Headers of a first column that names nodes; an empty one is the index that pandas writes.
bool names_nodes(std::string_view word) {
  constexpr std::string_view kWords[] = {"", "node", "id", "node_id", "nodeid", "name", "node_name", "index", "key"};
  const std::string name = lower(word);
  return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords) || name.starts_with("unnamed:");
}

// The same anywhere in a table, where a name or an index may be something else.
bool surely_names_nodes(std::string_view word) {
  const std::string name = lower(word);
  return name == "node" || name == "id" || name == "node_id" || name == "nodeid";
}

bool ends_like_an_id(std::string_view word) {
  const std::string name = lower(word);
  return name.ends_with("_id") || name.ends_with(" id") || name.ends_with("-id");
}

class NodeTableRecognition {
 public:
  NodeTableRecognition(const TableSample& sample, NodeTableKind kind, const std::string& id_column,
                       const NodeIndex* index)
      : sample_(sample), kind_(kind), id_column_(id_column), index_(index) {}

  NodeTableLayout run() {
    NodeTableLayout layout;
    layout.path = sample_.path;
    layout.kind = kind_;
    layout.delimiter = sample_.delimiter;
    const std::vector<std::string>& first = sample_.rows[0];
    layout.columns = first.size();
    const bool header = has_header();
    if (header) layout.header = first;
    body_ = header ? 1 : 0;
    layout.key = key_column(layout);
    return layout;
  }

 private:
  bool all_words(const std::vector<std::string>& row) const {
    return std::none_of(row.begin(), row.end(), [](const std::string& field) { return parse_real(field).has_value(); });
  }

  bool has_header() const {
    const std::vector<std::string>& first = sample_.rows[0];
    if (!id_column_.empty()) return true;
    if (kind_ == NodeTableKind::features) {
      // Words alone, or a name of the key above numbers.
      return all_words(first) || (first.size() > 1 && !first[0].empty() && names_nodes(first[0]));
    }
    if (names_nodes(first[0]) && !first[0].empty()) return true;
    if (first[0].empty() && first.size() > 1 && !parse_real(first[1])) return true;
    if (std::any_of(first.begin(), first.end(), [](const std::string& f) { return is_label_word(f); })) return true;
    if (first.size() < 2 || sample_.rows.size() < 2) return false;
    if (!parse_real(first[0]) && facts_of(sample_, 1, 0).numbers) return true;  // a word above numbers
    return !known(first[0]) && std::any_of(sample_.rows.begin() + 1, sample_.rows.end(),
                                           [&](const auto& row) { return !row.empty() && known(row[0]); });
  }

  static bool is_label_word(const std::string& word) {
    const std::string name = lower(word);
    constexpr std::string_view kWords[] = {"label", "labels", "class", "classes", "y", "target", "category", "split"};
    return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords) || name.starts_with("split_");
  }

  bool known(const std::string& name) const {
    return index_ != nullptr && index_->has_names() && index_->find(name) >= 0;
  }

  int key_column(const NodeTableLayout& layout) const {
    if (!id_column_.empty()) {
      const auto place = std::find(layout.header.begin(), layout.header.end(), id_column_);
      if (place == layout.header.end())
        throw usage_error(fmt::format("--id {}: {} has no such column{}; there are {}", id_column_, sample_.path,
                                      did_you_mean(id_column_, layout.header), fmt::join(layout.header, ", ")));
      return static_cast<int>(place - layout.header.begin());
    }
    if (layout.columns < 2) return -1;
    if (layout.header.empty()) {
      if (kind_ == NodeTableKind::labels) return layout.columns == 2 ? 0 : -1;
      return distinct_words_beside_numbers() ? 0 : -1;
    }
    if (names_nodes(layout.header[0])) return 0;
    for (size_t c = 0; c < layout.header.size(); ++c) {
      if (surely_names_nodes(layout.header[c])) return static_cast<int>(c);
    }
    if (ends_like_an_id(layout.header[0]) && are_distinct(0)) return 0;
    if (kind_ != NodeTableKind::features)
      return kind_ == NodeTableKind::labels || !is_label_word(layout.header[0]) ? 0 : -1;
    return distinct_words_beside_numbers() ? 0 : -1;
  }

  bool are_distinct(size_t column) const {
    return facts_of(sample_, body_, column).values.size() == sample_.rows.size() - body_;
  }

  bool distinct_words_beside_numbers() const {
    if (sample_.rows.size() <= body_ || facts_of(sample_, body_, 0).numbers || !are_distinct(0)) return false;
    const std::vector<std::string>& row = sample_.rows[body_];
    return !parse_real(row[0]) && std::all_of(row.begin() + 1, row.end(), [](const std::string& field) {
      return is_missing_value(field) || parse_real(field);
    });
  }

  const TableSample& sample_;
  NodeTableKind kind_;
  const std::string& id_column_;
  const NodeIndex* index_;
  size_t body_ = 0;
};

}  // namespace

NodeIndex::NodeIndex(const TextColumn& names, int64_t num_nodes)
    : names_(&names), has_names_(!names.empty()), num_nodes_(num_nodes) {
  for (int64_t i = 0; i < names.size(); ++i) numbers_.emplace(names[i], i);
}

int64_t NodeIndex::find(std::string_view name) const {
  if (has_names_) {
    auto place = numbers_.find(std::string(name));
    if (place == numbers_.end()) {  // an id that a program wrote as 7.0 or 007
      const auto number = parse_real(name);
      if (!number || *number != std::floor(*number) || std::abs(*number) > 1e15) return -1;
      place = numbers_.find(std::to_string(static_cast<int64_t>(*number)));
    }
    return place == numbers_.end() ? -1 : place->second;
  }
  const auto number = parse_int(name);
  return number && *number >= 0 && *number < num_nodes_ ? *number : -1;
}

std::string NodeIndex::name(int64_t node) const {
  return has_names_ && node < names_->size() ? std::string((*names_)[node]) : std::to_string(node);
}

std::string NodeTableLayout::column_name(size_t column) const {
  return header.empty() ? std::to_string(column + 1) : header[column];
}

ColumnUse NodeTableLayout::use() const {
  ColumnUse use{file_name(path), {}};
  if (has_key()) {
    const std::string& name = column_name(static_cast<size_t>(key));
    use.uses.emplace_back("node", name.empty() ? "the first column" : name);
  } else {
    use.uses.emplace_back("node", "the row number");
  }
  return use;
}

NodeTableLayout recognise_node_table(const std::string& path, NodeTableKind kind, const std::string& id_column,
                                     const NodeIndex* index) {
  const TableSample sample = sample_table(path);
  if (sample.rows.empty()) {
    NodeTableLayout empty;
    empty.path = path;
    empty.kind = kind;
    return empty;
  }
  return NodeTableRecognition(sample, kind, id_column, index).run();
}

NodeRowReader::NodeRowReader(const NodeTableLayout& layout)
    : layout_(layout), reader_(layout.path), header_pending_(!layout.header.empty()) {}

bool NodeRowReader::next(std::vector<std::string>& fields) {
  const bool blank_is_row = layout_.kind == NodeTableKind::labels && layout_.columns == 1;
  std::string_view line;
  while (reader_.next(line)) {
    if (trim(line).empty() && (!blank_is_row || header_pending_)) continue;
    if (line.starts_with('#')) continue;
    if (!split_fields(layout_.delimiter == ' ' ? trim(line) : line, layout_.delimiter, fields))
      throw reader_.error("a quote is not closed");
    if (fields.empty()) fields.emplace_back();  // a missing label
    for (std::string& field : fields) field = std::string(trim(field));
    if (std::exchange(header_pending_, false)) continue;
    if (fields.size() != layout_.columns)
      throw reader_.error(fmt::format("{} columns, expected {}", fields.size(), layout_.columns));
    return true;
  }
  return false;
}

int64_t NodeRowReader::node(const std::vector<std::string>& fields, const NodeIndex* index) {
  if (!layout_.has_key()) return rows_++;
  const std::string& key = fields[static_cast<size_t>(layout_.key)];
  const int64_t node = index != nullptr ? index->find(key) : parse_int(key).value_or(-1);
  if (node < 0) throw reader_.error(fmt::format("there is no node '{}'", key.substr(0, 40)));
  ++rows_;
  return node;
}

std::vector<std::string> node_keys(const NodeTableLayout& layout) {
  NodeRowReader reader(layout);
  std::vector<std::string> keys, fields;
  while (reader.next(fields)) keys.push_back(fields[static_cast<size_t>(layout.key)]);
  return keys;
}

bool is_text_table(const std::string& path) { return !path.ends_with(".npy") && !path.ends_with(".npz"); }

bool is_missing_value(std::string_view text) {
  constexpr std::string_view kWords[] = {"", "?", "nan", "na", "n/a", "none", "null"};
  if (text.size() > 4) return false;
  const std::string word = lower(text);
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

}  // namespace graphpae
