#include "graphpae/data/node_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

#include "graphpae/core/error.h"
#include "graphpae/data/split_table.h"
#include "graphpae/io/text.h"

namespace graphpae {

NodeFiles::NodeFiles(std::string features, std::string labels, std::string splits, std::string id_column)
    : features_path_(std::move(features)),
      labels_path_(std::move(labels)),
      splits_path_(std::move(splits)),
      id_column_(std::move(id_column)) {
  const auto keyed_layout = [&](const std::string& path, NodeTableKind kind) -> std::optional<NodeTableLayout> {
    if (!is_text_table(path)) return std::nullopt;
    NodeTableLayout layout = recognise_node_table(path, kind, id_column_);
    return layout.has_key() ? std::optional(std::move(layout)) : std::nullopt;
  };
  if (!features_path_.empty()) {
    keyed_features_ = keyed_layout(features_path_, NodeTableKind::features);
    if (!keyed_features_) features_ = read_feature_table(features_path_);
  }
  if (!labels_path_.empty()) {
    // --id names a column of features, if there are any; labels may have another name for it or none.
    const std::string id = features_path_.empty() ? id_column_ : "";
    if (is_text_table(labels_path_)) {
      NodeTableLayout layout = recognise_node_table(labels_path_, NodeTableKind::labels, id);
      if (layout.has_key()) keyed_labels_ = std::move(layout);
    }
    if (!keyed_labels_) labels_ = read_labels(labels_path_);
  }
}

std::vector<const NodeTableLayout*> NodeFiles::keyed() const {
  std::vector<const NodeTableLayout*> layouts;
  if (keyed_features_) layouts.push_back(&*keyed_features_);
  if (keyed_labels_) layouts.push_back(&*keyed_labels_);
  return layouts;
}

NodeEvidence NodeFiles::evidence() const {
  NodeEvidence evidence;
  if (features_) {
    evidence.rows = features_->values.rows();
    evidence.rows_of = file_name(features_path_);
  } else if (labels_) {
    evidence.rows = static_cast<int64_t>(labels_->values.size());
    evidence.rows_of = file_name(labels_path_);
  }
  for (const NodeTableLayout* layout : keyed()) {
    for (const std::string& key : node_keys(*layout)) {
      const auto number = parse_int(key);
      if (number && *number >= 0) evidence.keys.push_back(*number);
    }
  }
  return evidence;
}

void NodeFiles::introduce_nodes(GraphParts& parts, std::vector<std::string>& notes) const {
  for (const NodeTableLayout* recognised : keyed()) {
    const NodeIndex index(parts.node_names, parts.num_nodes);
    const NodeTableLayout layout =
        recognise_node_table(recognised->path, recognised->kind,
                             id_column_.empty() || recognised->kind == NodeTableKind::labels ? "" : id_column_, &index);
    std::vector<std::string> added;
    std::unordered_set<std::string> seen;
    int64_t known = 0;
    if (!layout.has_key()) continue;
    for (const std::string& key : node_keys(layout)) {
      if (index.find(key) >= 0) {
        ++known;
      } else if (!key.empty() && seen.insert(key).second) {
        added.push_back(key);
      }
    }
    const std::string column = layout.column_name(static_cast<size_t>(layout.key));
    if (known == 0 && !added.empty()) {
      throw data_error(fmt::format("{}: there is no node '{}' among the edges, nor is any other name in column '{}'{}",
                                   layout.path, added[0], column,
                                   layout.header.empty() ? "" : "; --id names another column"));
    }
    if (added.empty()) continue;
    constexpr size_t kShown = 5;
    std::vector<std::string> shown(added.begin(), added.begin() + static_cast<int64_t>(std::min(kShown, added.size())));
    if (added.size() > kShown) shown.push_back("...");
    notes.push_back(fmt::format("{}: {} of its {} nodes have no edges: {}", file_name(layout.path), added.size(),
                                added.size() + static_cast<size_t>(known), fmt::join(shown, ", ")));
    for (const std::string& name : added) parts.node_names.push_back(name);
    parts.num_nodes = parts.node_names.size();
  }
}

void NodeFiles::add_to(GraphParts& parts, std::vector<std::string>& notes, std::vector<ColumnUse>& columns) {
  const bool named = !parts.node_names.empty();
  if (named) introduce_nodes(parts, notes);
  const auto grow = [&](int64_t count, const std::string& path, const char* what) {
    if (named ? count != parts.num_nodes : count < parts.num_nodes)
      throw data_error(fmt::format("{}: {} {} for {} nodes", path, count, what, parts.num_nodes));
    parts.num_nodes = count;
  };
  const NodeIndex index(parts.node_names, named ? parts.num_nodes : kMaxNodes);
  const auto add_use = [&](const ColumnUse& use) {
    if (!use.file.empty()) columns.push_back(use);
  };
  if (!features_path_.empty()) {
    if (!features_) features_ = read_feature_table(features_path_, &index, named ? parts.num_nodes : -1, id_column_);
    grow(features_->values.rows(), features_path_, "feature rows");
    add_use(features_->columns);
    parts.features = std::move(features_->values);
    parts.feature_names = std::move(features_->names);
  }
  if (!labels_path_.empty()) {
    if (!labels_) {
      const bool counted = named || parts.features.rows() > 0;
      labels_ =
          read_labels(labels_path_, &index, counted ? parts.num_nodes : -1, features_path_.empty() ? id_column_ : "");
    }
    if (!named && keyed_labels_)
      labels_->values.resize(std::max<size_t>(labels_->values.size(), parts.num_nodes), kUnlabelled);
    grow(static_cast<int64_t>(labels_->values.size()), labels_path_, "labels");
    add_use(labels_->columns);
    parts.labels = std::move(labels_->values);
    parts.class_names = std::move(labels_->class_names);
  }
  if (splits_path_.empty()) return;
  if (!is_text_table(splits_path_)) {
    parts.splits = read_splits(splits_path_, parts.num_nodes);
    return;
  }
  const NodeIndex all(parts.node_names, parts.num_nodes);
  SplitTable table = read_split_table(splits_path_, &all, parts.num_nodes);
  add_use(table.columns);
  parts.splits = std::move(table.splits);
}

}  // namespace graphpae
