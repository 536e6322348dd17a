#include "graphpae/data/node_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>

#include "graphpae/core/error.h"
#include "graphpae/core/graph.h"
#include "graphpae/io/npy_text.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

FeatureTable read_feature_text(const std::string& path, const NodeIndex* index, int64_t num_nodes,
                               const std::string& id_column) {
  const NodeTableLayout layout = recognise_node_table(path, NodeTableKind::features, id_column, index);
  std::vector<size_t> places;
  for (size_t c = 0; c < layout.columns; ++c) {
    if (static_cast<int>(c) != layout.key) places.push_back(c);
  }
  const auto columns = static_cast<int64_t>(places.size());
  Buffer<float> values;
  std::vector<bool> given;
  int64_t rows = 0;
  NodeRowReader reader(layout);
  std::vector<std::string> fields;
  while (reader.next(fields)) {
    const int64_t node = reader.node(fields, index);
    if (num_nodes >= 0 && node >= num_nodes)
      throw reader.error(fmt::format("a feature row for node {}, but there are {} nodes", node, num_nodes));
    if (node >= kMaxNodes) throw reader.error("too many rows");
    if (node >= static_cast<int64_t>(given.size())) {
      if (node > 64 * rows + 1'000'000) throw reader.error(fmt::format("node {} is too large", node));
      given.resize(node + 1);
      values.resize((node + 1) * columns);
    }
    if (given[node]) throw reader.error(fmt::format("a second row for node '{}'", fields[layout.key]));
    given[node] = true;
    for (int64_t c = 0; c < columns; ++c) {
      const std::string& text = fields[places[c]];
      const auto value = parse_real(text);
      if (!value) throw reader.error(fmt::format("column {}: '{}' is not a number", places[c] + 1, text.substr(0, 40)));
      if (!std::isfinite(*value)) throw reader.error(fmt::format("column {}: {} is not finite", places[c] + 1, *value));
      values[node * columns + c] = static_cast<float>(*value);
    }
    ++rows;
  }
  if (rows == 0) throw data_error(fmt::format("{}: holds no rows", path));
  const bool all_known = index != nullptr && index->has_names() && num_nodes >= 0;
  if (all_known) given.resize(num_nodes);
  const auto missing = std::find(given.begin(), given.end(), false);
  if (missing != given.end()) {
    const int64_t node = missing - given.begin();
    throw data_error(
        fmt::format("{}: no row for node {}", path, index != nullptr ? index->name(node) : std::to_string(node)));
  }
  FeatureTable table{Features::dense(static_cast<int64_t>(given.size()), columns, std::move(values)), {}, layout.use()};
  if (!layout.header.empty()) {
    for (const size_t c : places) table.names.push_back(layout.header[c]);
  }
  table.columns.uses.emplace_back("features", fmt::format("{} column{}", columns, columns == 1 ? "" : "s"));
  return table;
}

// The column of labels: the one that names no node, or the one that is called so.
size_t label_column(const NodeTableLayout& layout) {
  std::vector<size_t> others;
  for (size_t c = 0; c < layout.columns; ++c) {
    if (static_cast<int>(c) != layout.key) others.push_back(c);
  }
  if (others.size() == 1) return others[0];
  for (const char* name : {"label", "labels", "class", "y", "target", "classes", "category"}) {
    for (const size_t c : others) {
      if (!layout.header.empty() && lower(layout.header[c]) == name) return c;
    }
  }
  throw data_error(fmt::format("{}: {} columns, expected `label` or `node,label`", layout.path, layout.columns));
}

Labels read_label_text(const std::string& path, const NodeIndex* index, int64_t num_nodes,
                       const std::string& id_column) {
  const NodeTableLayout layout = recognise_node_table(path, NodeTableKind::labels, id_column, index);
  const size_t column = label_column(layout);
  std::vector<std::string> texts;
  std::vector<bool> given;
  if (num_nodes >= 0) {
    texts.resize(num_nodes);
    given.resize(num_nodes);
  }
  int64_t rows = 0;
  NodeRowReader reader(layout);
  std::vector<std::string> fields;
  while (reader.next(fields)) {
    const int64_t node = reader.node(fields, index);
    if (num_nodes >= 0 && node >= num_nodes)
      throw reader.error(fmt::format("a label for node {}, but there are {} nodes", node, num_nodes));
    if (node > 64 * rows + 1'000'000) throw reader.error(fmt::format("node {} is too large", node));
    if (node >= static_cast<int64_t>(texts.size())) {
      texts.resize(node + 1);
      given.resize(node + 1);
    }
    if (given[node]) throw reader.error(fmt::format("a second label for node '{}'", fields[layout.key]));
    given[node] = true;
    texts[node] = fields[column];
    ++rows;
  }
  if (!layout.has_key() && num_nodes >= 0 && rows != num_nodes)
    throw data_error(fmt::format("{}: {} labels for {} nodes", path, rows, num_nodes));

  Labels labels;
  labels.columns = layout.use();
  labels.columns.uses.emplace_back("label", layout.column_name(column));
  labels.values.assign(texts.size(), kUnlabelled);
  const bool numeric = std::all_of(texts.begin(), texts.end(), [](const std::string& t) {
    const auto value = parse_real(t);
    return is_missing_value(t) || (value && *value == std::floor(*value) && *value >= -1 && *value < INT32_MAX);
  });
  if (!numeric) {
    std::set<std::string> names;
    for (const std::string& text : texts) {
      if (!is_missing_value(text)) names.insert(text);
    }
    labels.class_names.assign(names.begin(), names.end());
  }
  for (size_t node = 0; node < texts.size(); ++node) {
    if (is_missing_value(texts[node])) continue;
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

FeatureTable read_feature_table(const std::string& path, const NodeIndex* index, int64_t num_nodes,
                                const std::string& id_column) {
  return naming(path, [&]() -> FeatureTable {
    if (path.ends_with(".npy")) return {dense_features(read_npy(path)), {}, {}};
    if (!path.ends_with(".npz")) return read_feature_text(path, index, num_nodes, id_column);
    const NpzFile file(path);
    std::vector<std::string> names;
    if (const std::string array = file.first_of({"columns", "feature_names", "names"}); !array.empty())
      names = texts_of(file.read(array));
    if (is_sparse_npz(file)) return {sparse_features(read_sparse_npz(file)), names, {}};
    return {dense_features(only_array(file, {"features", "x", "X", "node_features"})), names, {}};
  });
}

Features read_features(const std::string& path, const NodeIndex* index, int64_t num_nodes) {
  return read_feature_table(path, index, num_nodes).values;
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

Labels read_labels(const std::string& path, const NodeIndex* index, int64_t num_nodes, const std::string& id_column) {
  if (path.ends_with(".npy")) return {labels_from(read_npy(path)), {}};
  if (path.ends_with(".npz"))
    return {labels_from(only_array(NpzFile(path), {"labels", "y", "label", "node_labels"})), {}};
  return read_label_text(path, index, num_nodes, id_column);
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

void write_splits(const std::string& path, const std::vector<Split>& splits) {
  std::vector<ZipEntry> entries;
  for (size_t s = 0; s < splits.size(); ++s) {
    entries.push_back(npy_entry<int32_t>(fmt::format("train_{}", s), splits[s].train));
    entries.push_back(npy_entry<int32_t>(fmt::format("val_{}", s), splits[s].val));
    entries.push_back(npy_entry<int32_t>(fmt::format("test_{}", s), splits[s].test));
  }
  write_zip(path, entries);
}

std::vector<Split> read_splits(const std::string& path, int64_t num_nodes) {
  const NpzFile file(path);
  std::vector<Split> splits = splits_from(file, num_nodes);
  if (splits.empty()) throw data_error(fmt::format("{}: holds no train_0, val_0, test_0, ... or masks", path));
  naming(path, [&] { return check_splits(splits, num_nodes), 0; });
  return splits;
}

}  // namespace graphpae
