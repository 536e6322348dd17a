#include "graphpae/data/node_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>

#include "graphpae/core/error.h"
#include "graphpae/core/graph.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

bool is_key_word(std::string_view word) {
  return word == "node" || word == "id" || word == "node_id" || word == "name";
}

bool is_missing(std::string_view text) {
  return text.empty() || text == "nan" || text == "NaN" || text == "NA" || text == "?";
}

// Rows of a text table; calls row(fields) with the key column, if there is one, still in front.
struct TextTable {
  char delimiter = ',';
  bool has_key = false;
  std::vector<std::string> header;
};

template <class Row>
TextTable for_each_row(const std::string& path, bool labels, const Row& row) {
  LineReader reader(path);
  TextTable table;
  std::string_view line;
  std::vector<std::string> fields;
  bool first = true;
  size_t columns = 0;
  while (reader.next(line)) {
    if (trim(line).empty() && !labels) continue;
    if (line.starts_with('#')) continue;
    if (first) table.delimiter = sniff_delimiter(trim(line));
    if (!split_fields(line, table.delimiter, fields)) throw reader.error("a quote is not closed");
    if (fields.empty()) fields.emplace_back();  // an empty line is a missing label
    for (std::string& field : fields) field = std::string(trim(field));
    if (first) {
      first = false;
      columns = fields.size();
      table.has_key = is_key_word(fields[0]);
      const bool words =
          std::none_of(fields.begin(), fields.end(), [](const std::string& f) { return parse_real(f).has_value(); });
      const std::string& last = fields.back();
      if (table.has_key || (labels ? last == "label" || last == "class" || last == "labels" || last == "y" : words)) {
        table.header = fields;
        continue;
      }
      if (labels && columns == 2) table.has_key = true;
    }
    if (fields.size() != columns) throw reader.error(fmt::format("{} columns, expected {}", fields.size(), columns));
    row(reader, table, fields);
  }
  return table;
}

int64_t keyed_node(const LineReader& reader, const TextTable& table, const std::vector<std::string>& fields,
                   const NodeIndex* index, int64_t next_row) {
  if (!table.has_key) return next_row;
  const int64_t node = index != nullptr ? index->find(fields[0]) : parse_int(fields[0]).value_or(-1);
  if (node < 0) throw reader.error(fmt::format("there is no node '{}'", fields[0]));
  return node;
}

Features read_feature_text(const std::string& path, const NodeIndex* index, int64_t num_nodes) {
  Buffer<float> values;
  std::vector<bool> given;
  int64_t columns = -1, rows = 0;
  const auto add_row = [&](const LineReader& reader, const TextTable& table, const std::vector<std::string>& fields) {
    const size_t skip = table.has_key ? 1 : 0;
    columns = static_cast<int64_t>(fields.size() - skip);
    const int64_t node = keyed_node(reader, table, fields, index, rows);
    if (num_nodes >= 0 && node >= num_nodes) {
      throw reader.error(fmt::format("a feature row for node {}, but there are {} nodes", node, num_nodes));
    }
    if (node >= kMaxNodes) throw reader.error("too many rows");
    if (node >= static_cast<int64_t>(given.size())) {
      if (node > 64 * rows + 1'000'000) throw reader.error(fmt::format("node {} is too large", node));
      given.resize(node + 1);
      values.resize((node + 1) * columns);
    }
    if (given[node]) throw reader.error(fmt::format("a second row for node '{}'", fields[0]));
    given[node] = true;
    for (int64_t c = 0; c < columns; ++c) {
      const auto value = parse_real(fields[c + skip]);
      if (!value)
        throw reader.error(
            fmt::format("column {}: '{}' is not a number", c + skip + 1, fields[c + skip].substr(0, 40)));
      if (!std::isfinite(*value)) throw reader.error(fmt::format("column {}: {} is not finite", c + skip + 1, *value));
      values[node * columns + c] = static_cast<float>(*value);
    }
    ++rows;
  };
  for_each_row(path, false, add_row);
  const auto missing = std::find(given.begin(), given.end(), false);
  if (missing != given.end()) {
    throw data_error(fmt::format("{}: no row for node {}", path, missing - given.begin()));
  }
  if (rows == 0) throw data_error(fmt::format("{}: holds no rows", path));
  return Features::dense(rows, columns, std::move(values));
}

Labels read_label_text(const std::string& path, const NodeIndex* index, int64_t num_nodes) {
  std::vector<std::string> texts;
  std::vector<bool> given;
  if (num_nodes >= 0) {
    texts.resize(num_nodes);
    given.resize(num_nodes);
  }
  int64_t rows = 0;
  bool keyed = false;
  for_each_row(path, true,
               [&](const LineReader& reader, const TextTable& table, const std::vector<std::string>& fields) {
                 if (fields.size() > 2)
                   throw reader.error(fmt::format("{} columns, expected `label` or `node,label`", fields.size()));
                 keyed = table.has_key;
                 const int64_t node = keyed_node(reader, table, fields, index, rows);
                 if (num_nodes >= 0 && node >= num_nodes) {
                   throw reader.error(fmt::format("a label for node {}, but there are {} nodes", node, num_nodes));
                 }
                 if (node > 64 * rows + 1'000'000) throw reader.error(fmt::format("node {} is too large", node));
                 if (node >= static_cast<int64_t>(texts.size())) {
                   texts.resize(node + 1);
                   given.resize(node + 1);
                 }
                 if (given[node]) throw reader.error(fmt::format("a second label for node '{}'", fields[0]));
                 given[node] = true;
                 texts[node] = fields.back();
                 ++rows;
               });
  if (!keyed && num_nodes >= 0 && rows != num_nodes) {
    throw data_error(fmt::format("{}: {} labels for {} nodes", path, rows, num_nodes));
  }

  Labels labels;
  labels.values.assign(texts.size(), kUnlabelled);
  const bool numeric = std::all_of(texts.begin(), texts.end(), [](const std::string& t) {
    const auto value = parse_real(t);
    return is_missing(t) || (value && *value == std::floor(*value) && *value >= -1 && *value < INT32_MAX);
  });
  if (!numeric) {
    std::set<std::string> names;
    for (const std::string& text : texts) {
      if (!is_missing(text)) names.insert(text);
    }
    labels.class_names.assign(names.begin(), names.end());
  }
  for (size_t node = 0; node < texts.size(); ++node) {
    if (is_missing(texts[node])) continue;
    labels.values[node] =
        numeric
            ? static_cast<int32_t>(*parse_real(texts[node]))
            : static_cast<int32_t>(std::lower_bound(labels.class_names.begin(), labels.class_names.end(), texts[node]) -
                                   labels.class_names.begin());
  }
  return labels;
}

NpyArray only_array(const NpzFile& file, std::initializer_list<std::string> preferred) {
  if (const std::string name = file.first_of(preferred); !name.empty()) return file.read(name);
  const auto names = file.names();
  if (names.size() != 1) {
    throw data_error(fmt::format("{}: holds {} arrays; expected one, or one named {}", file.path(), names.size(),
                                 *preferred.begin()));
  }
  return file.read(names[0]);
}

Features dense_features(const NpyArray& array) {
  array.expect_dimensions(2);
  return Features::dense(array.shape[0], array.shape[1], array.to_float());
}

// The members of split `s` of a mask array.
std::vector<int32_t> members(const NpyArray& mask, int64_t split, int64_t num_splits, int64_t num_nodes) {
  const std::vector<int64_t> values = mask.to_int64();
  const bool splits_first = mask.shape.size() == 1 || mask.shape[0] == num_splits;
  std::vector<int32_t> result;
  for (int64_t node = 0; node < num_nodes; ++node) {
    if (values[splits_first ? split * num_nodes + node : node * num_splits + split] != 0)
      result.push_back(static_cast<int32_t>(node));
  }
  return result;
}

}  // namespace

NodeIndex::NodeIndex(const TextColumn& names, int64_t num_nodes) : has_names_(!names.empty()), num_nodes_(num_nodes) {
  for (int64_t i = 0; i < names.size(); ++i) numbers_.emplace(names[i], i);
}

int64_t NodeIndex::find(std::string_view name) const {
  if (has_names_) {
    const auto place = numbers_.find(name);
    return place == numbers_.end() ? -1 : place->second;
  }
  const auto number = parse_int(name);
  return number && *number >= 0 && *number < num_nodes_ ? *number : -1;
}

Features read_features(const std::string& path, const NodeIndex* index, int64_t num_nodes) {
  return naming(path, [&] {
    if (path.ends_with(".npy")) return dense_features(read_npy(path));
    if (path.ends_with(".npz")) {
      const NpzFile file(path);
      return is_sparse_npz(file) ? sparse_features(read_sparse_npz(file))
                                 : dense_features(only_array(file, {"features", "x", "X", "node_features"}));
    }
    return read_feature_text(path, index, num_nodes);
  });
}

std::vector<int32_t> labels_from(const NpyArray& array) {
  if (array.shape.size() != 1 && !(array.shape.size() == 2 && std::min(array.shape[0], array.shape[1]) == 1)) {
    throw data_error(
        fmt::format("{}: expected one label per node, found {} dimensions", array.name, array.shape.size()));
  }
  if (array.is_integer()) return array.to_int32();
  std::vector<int32_t> labels;
  for (const double value : array.to_double()) {
    if (!std::isnan(value) && (value != std::floor(value) || value < -1 || value >= INT32_MAX)) {
      throw data_error(fmt::format("{}: position {}: {} is not a class", array.name, labels.size(), value));
    }
    labels.push_back(std::isnan(value) ? kUnlabelled : static_cast<int32_t>(value));
  }
  return labels;
}

Labels read_labels(const std::string& path, const NodeIndex* index, int64_t num_nodes) {
  if (path.ends_with(".npy")) return {labels_from(read_npy(path)), {}};
  if (path.ends_with(".npz"))
    return {labels_from(only_array(NpzFile(path), {"labels", "y", "label", "node_labels"})), {}};
  return read_label_text(path, index, num_nodes);
}

bool has_splits(const NpzFile& file) {
  return !file.first_of({"train_0", "train", "train_masks", "train_mask"}).empty();
}

std::vector<Split> splits_from(const NpzFile& file, int64_t num_nodes) {
  std::vector<Split> splits;
  if (const std::string train = file.first_of({"train_masks", "train_mask"}); !train.empty()) {
    const std::string suffix = train.substr(5);
    const std::string val = file.first_of({"val" + suffix, "valid" + suffix});
    if (val.empty() || !file.has("test" + suffix))
      throw data_error(fmt::format("{}: has {} but not val{} and test{}", file.path(), train, suffix, suffix));
    const NpyArray masks[] = {file.read(train), file.read(val), file.read("test" + suffix)};
    const int64_t num_splits = num_nodes == 0 ? 0 : masks[0].count() / num_nodes;
    for (const NpyArray& mask : masks) {
      const bool fits = mask.shape.size() == 1
                            ? mask.count() == num_nodes
                            : mask.shape.size() == 2 && mask.count() == num_splits * num_nodes && num_nodes > 0;
      if (!fits) throw data_error(fmt::format("{}: does not hold masks for {} nodes", mask.name, num_nodes));
    }
    for (int64_t s = 0; s < num_splits; ++s) {
      splits.push_back({members(masks[0], s, num_splits, num_nodes), members(masks[1], s, num_splits, num_nodes),
                        members(masks[2], s, num_splits, num_nodes)});
    }
    return splits;
  }
  const bool numbered = file.has("train_0");
  for (int s = 0;; ++s) {
    const std::string suffix = numbered ? fmt::format("_{}", s) : "";
    if (!file.has("train" + suffix) || (!numbered && s > 0)) break;
    const std::string val = file.first_of({"val" + suffix, "valid" + suffix});
    if (val.empty() || !file.has("test" + suffix)) {
      throw data_error(fmt::format("{}: has train{} but not val{} and test{}", file.path(), suffix, suffix, suffix));
    }
    splits.push_back(
        {file.read("train" + suffix).to_int32(), file.read(val).to_int32(), file.read("test" + suffix).to_int32()});
  }
  return splits;
}

std::vector<Split> read_splits(const std::string& path, int64_t num_nodes) {
  const NpzFile file(path);
  std::vector<Split> splits = splits_from(file, num_nodes);
  if (splits.empty()) throw data_error(fmt::format("{}: holds no train_0, val_0, test_0, ... or masks", path));
  naming(path, [&] { return check_splits(splits, num_nodes), 0; });
  return splits;
}

}  // namespace graphpae
