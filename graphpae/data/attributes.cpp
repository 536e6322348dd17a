#include "graphpae/data/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "graphpae/data/node_table.h"
#include "graphpae/data/target_column.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr size_t kMostChoices = 100;     // columns of one one-hot text
constexpr size_t kShownValues = 6;       // in notes
constexpr int64_t kLongestList = 65536;  // numbers of one attribute

// Attributes that are labels, by their names in lower case, the surest first.
constexpr std::string_view kLabelNames[] = {"label",  "labels",       "class",    "classes",   "y",
                                            "target", "club",         "category", "community", "group",
                                            "type",   "ground_truth", "faction",  "value",     "modularity_class"};
// Attributes that name nodes, if the ids only count.
constexpr std::string_view kNameNames[] = {"label", "name", "id"};
// Where and how a node is drawn. r, g and b together mark a drawing; so do these alone.
constexpr std::string_view kDrawing[] = {"r", "g", "b", "x", "y", "z", "size"};

// One attribute in the order of nodes.
struct Values {
  std::string name;
  std::vector<int64_t> offsets;         // [N+1]
  std::vector<std::string_view> texts;  // [V] grouped by node, in the order of the file; missing ones left out
  std::vector<double> numbers;          // [V] if every text is a number or a truth value
  std::set<std::string_view> distinct;  // at most kMostChoices + 1
  int64_t present = 0;                  // nodes with a value
  int64_t longest = 0;                  // list
  bool numeric = true, whole = true, equal_lengths = true, is_truth = true;
};

std::optional<double> truth_of(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return 1;
  if (text == "false" || text == "False" || text == "FALSE") return 0;
  return std::nullopt;
}

Values sorted_values(const NodeAttribute& attribute, int64_t num_nodes) {
  const AttributeColumn& column = attribute.column;
  Values values;
  values.name = column.name;
  std::vector<int64_t> counts(num_nodes, 0);
  const auto kept = [&](int64_t v) { return !is_missing_text(column.values[v]); };
  for (size_t v = 0; v < column.nodes.size(); ++v) counts[column.nodes[v]] += kept(static_cast<int64_t>(v));
  const bool filled = !is_missing_text(attribute.fallback);
  std::vector<bool> from_default(num_nodes, false);
  for (int64_t node = 0; node < num_nodes && filled; ++node) {
    if (counts[node] == 0) {
      from_default[node] = true;
      counts[node] = 1;
    }
  }
  values.offsets.assign(1, 0);
  for (const int64_t count : counts) values.offsets.push_back(values.offsets.back() + count);
  values.texts.resize(values.offsets.back());
  std::vector<int64_t> next(values.offsets.begin(), values.offsets.end() - 1);
  for (size_t v = 0; v < column.nodes.size(); ++v) {
    if (kept(static_cast<int64_t>(v)))
      values.texts[next[column.nodes[v]]++] = trim(column.values[static_cast<int64_t>(v)]);
  }
  for (int64_t node = 0; node < num_nodes; ++node) {
    if (from_default[node]) values.texts[values.offsets[node]] = trim(attribute.fallback);
  }
  return values;
}

void examine(Values& values) {
  values.numbers.reserve(values.texts.size());
  for (const std::string_view text : values.texts) {
    const std::optional<double> number = parse_real(text), truth = truth_of(text);
    values.is_truth = values.is_truth && truth;
    if (!truth && (!number || !std::isfinite(*number))) values.numeric = false;
    if (!number || *number != std::floor(*number) || std::abs(*number) > 1e15) values.whole = false;
    if (values.numeric) values.numbers.push_back(truth ? *truth : *number);
    if (values.distinct.size() <= kMostChoices) values.distinct.insert(text);
  }
  if (!values.numeric) values.numbers.clear();
  for (size_t node = 0; node + 1 < values.offsets.size(); ++node) {
    const int64_t count = values.offsets[node + 1] - values.offsets[node];
    values.present += count > 0;
    if (count > 0 && values.longest > 0 && count != values.longest) values.equal_lengths = false;
    values.longest = std::max(values.longest, count);
  }
}

// Few different values for many nodes: on average each twice at least.
bool has_choices(const Values& values) {
  return values.distinct.size() <= kMostChoices && 2 * static_cast<int64_t>(values.distinct.size()) <= values.present;
}

std::string list_of(const std::set<std::string_view>& texts) {
  std::vector<std::string> parts;
  for (const std::string_view text : texts) {
    if (parts.size() == kShownValues) {
      parts.emplace_back("...");
      break;
    }
    parts.emplace_back(text.substr(0, 20));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Notes stay readable whatever a file holds.
std::string few_of(std::vector<std::string> texts) {
  constexpr size_t kMostTold = 20;
  if (texts.size() <= kMostTold) return fmt::format("{}", fmt::join(texts, ", "));
  const size_t more = texts.size() - kMostTold;
  texts.resize(kMostTold);
  return fmt::format("{} and {} more", fmt::join(texts, ", "), more);
}

class Assigner {
 public:
  Assigner(std::vector<Values>& all, GraphParts& parts) : all_(all), taken_(all.size(), false), parts_(parts) {}

  // Nodes are drawn at x, y, z in a colour r, g, b: what programs for drawing add.
  void drop_drawing() {
    for (const std::string_view needed : {"r", "g", "b"}) {
      if (!find(needed)) return;
    }
    std::vector<std::string> dropped;
    for (const std::string_view name : kDrawing) {
      const std::optional<size_t> place = find(name);
      if (!place || !all_[*place].numeric) continue;
      taken_[*place] = true;
      dropped.push_back(fmt::format("'{}'", all_[*place].name));
    }
    notes.push_back(fmt::format("how nodes are drawn is ignored: {}", fmt::join(dropped, ", ")));
  }

  void take_labels() {
    for (const std::string_view name : kLabelNames) {
      const std::optional<size_t> place = find(name);
      if (!place || !can_be_labels(all_[*place])) continue;
      taken_[*place] = true;
      return make_labels(all_[*place]);
    }
  }

  // What repeats the ids says nothing more.
  void drop_ids(const TextColumn& ids) {
    for (size_t a = 0; a < all_.size(); ++a) {
      if (taken_[a] || !is_one_each(all_[a])) continue;
      bool equal = true;
      for (int64_t node = 0; node < parts_.num_nodes && equal; ++node) equal = all_[a].texts[node] == trim(ids[node]);
      if (equal) taken_[a] = true;
    }
  }

  void take_names(bool ids_only_count, TextColumn& names) {
    for (const std::string_view name : kNameNames) {
      const std::optional<size_t> place = find(name);
      if (!place || !is_one_each(all_[*place])) continue;
      const Values& values = all_[*place];
      std::set<std::string_view> different(values.texts.begin(), values.texts.end());
      if (!ids_only_count || !names.empty() || static_cast<int64_t>(different.size()) != parts_.num_nodes) continue;
      taken_[*place] = true;
      for (const std::string_view text : values.texts) names.push_back(text);
      notes.push_back(
          fmt::format("nodes are named by their attribute '{}', because their ids only count", values.name));
    }
  }

  void make_features() {
    for (size_t a = 0; a < all_.size(); ++a) {
      if (!taken_[a]) add_columns(all_[a]);
    }
    if (columns_ > 0) {
      SparseMatrix matrix = rows_from_triples(parts_.num_nodes, columns_, rows_, indices_, values_);
      if (4 * static_cast<int64_t>(values_.size()) < parts_.num_nodes * columns_) {
        parts_.features = sparse_features(std::move(matrix));
      } else {
        Buffer<float> dense(static_cast<size_t>(parts_.num_nodes * columns_), 0.0F);
        for (size_t v = 0; v < values_.size(); ++v) dense[rows_[v] * columns_ + indices_[v]] = values_[v];
        parts_.features = Features::dense(parts_.num_nodes, columns_, std::move(dense));
      }
      parts_.feature_names = std::move(names_);
      notes.push_back(fmt::format("features from node attributes: {}", few_of(used_)));
    }
    if (!ignored_.empty()) notes.push_back(fmt::format("node attributes are ignored: {}", few_of(ignored_)));
  }

  std::vector<std::string> notes;

 private:
  bool is_one_each(const Values& values) const { return values.present == parts_.num_nodes && values.longest == 1; }

  std::optional<size_t> find(std::string_view name) const {
    for (size_t a = 0; a < all_.size(); ++a) {
      if (!taken_[a] && plain(all_[a].name) == name) return a;
    }
    return std::nullopt;
  }

  // "Modularity Class" is modularity_class.
  static std::string plain(std::string_view name) {
    std::string word = lower(trim(name));
    std::replace(word.begin(), word.end(), ' ', '_');
    return word;
  }

  static bool can_be_labels(const Values& values) {
    return values.longest == 1 && has_choices(values) && values.distinct.size() >= 2 &&
           (!values.numeric || values.whole || values.is_truth);
  }

  // Classes are the different values, numbers in ascending order and texts in alphabetical order. -1 is unlabelled.
  void make_labels(const Values& values) {
    const bool numbers = values.numeric && values.whole;
    std::map<double, std::string> by_number;
    std::map<std::string, int32_t> place;
    for (const std::string_view text : values.distinct) {
      if (numbers && *parse_real(text) == -1) continue;
      if (numbers) {
        by_number.emplace(*parse_real(text), fmt::format("{:.0f}", *parse_real(text)));
      } else {
        place.emplace(text, 0);
      }
    }
    std::vector<std::string> classes;
    for (const auto& [number, text] : by_number) classes.push_back(text);
    for (const auto& [text, unset] : place) classes.push_back(text);
    for (size_t c = 0; c < classes.size(); ++c) place[classes[c]] = static_cast<int32_t>(c);
    parts_.labels.assign(parts_.num_nodes, kUnlabelled);
    for (int64_t node = 0; node < parts_.num_nodes; ++node) {
      if (values.offsets[node] == values.offsets[node + 1]) continue;
      const std::string_view text = values.texts[values.offsets[node]];
      if (numbers && *parse_real(text) == -1) continue;
      parts_.labels[node] = place.at(numbers ? fmt::format("{:.0f}", *parse_real(text)) : std::string(text));
    }
    bool named = false;
    for (size_t c = 0; c < classes.size(); ++c) named = named || classes[c] != std::to_string(c);
    notes.push_back(fmt::format("labels are node attribute '{}', {} classes ({})", values.name, classes.size(),
                                list_of({classes.begin(), classes.end()})));
    if (named) parts_.class_names = std::move(classes);
  }

  void ignore(const Values& values, const std::string& reason) {
    ignored_.push_back(fmt::format("'{}' ({})", values.name, reason));
  }

  void add(int64_t row, int64_t column, double value) {
    if (value == 0) return;
    rows_.push_back(static_cast<int32_t>(row));
    indices_.push_back(static_cast<int32_t>(column));
    values_.push_back(static_cast<float>(value));
  }

  void end_column(const std::string& name) {
    names_.push_back(name);
    ++columns_;
  }

  void add_columns(const Values& values) {
    if (values.present == 0) return ignore(values, "no values");
    if (values.numeric && values.longest == 1 && are_ids(values.name, values.numbers)) return ignore(values, "ids");
    // The other nodes would get means: too many made-up numbers, and a small file could ask for any number of them.
    if (values.numeric && (values.longest > 1 ? 2 : 10) * values.present < parts_.num_nodes)
      return ignore(values, fmt::format("{} of few nodes", values.longest > 1 ? "lists" : "numbers"));
    if (values.numeric && values.equal_lengths && values.longest <= kLongestList) return add_numbers(values);
    if (values.numeric) return ignore(values, "lists of different lengths");
    if (values.distinct.size() == 1 && values.present == parts_.num_nodes)
      return ignore(values, fmt::format("'{}' for every node", values.distinct.begin()->substr(0, 20)));
    if (!has_choices(values)) return ignore(values, "texts that hardly repeat");
    add_choices(values);
  }

  // A list gives as many columns as it is long; a missing value is the mean, and a column says that it was missing.
  void add_numbers(const Values& values) {
    const int64_t nodes = parts_.num_nodes, width = values.longest;
    int64_t constant = 0;
    for (int64_t c = 0; c < width; ++c) {
      double sum = 0, least = HUGE_VAL, most = -HUGE_VAL;
      for (int64_t v = c; v < static_cast<int64_t>(values.numbers.size()); v += width) {
        sum += values.numbers[v];
        least = std::min(least, values.numbers[v]);
        most = std::max(most, values.numbers[v]);
      }
      if (most > 1e30 || least < -1e30) return ignore(values, "numbers too large for float32");
      if (least == most && values.present == nodes) {
        ++constant;
        continue;
      }
      const double mean = sum / static_cast<double>(values.present);
      if (least < most) {
        for (int64_t node = 0; node < nodes; ++node) {
          const bool missing = values.offsets[node] == values.offsets[node + 1];
          add(node, columns_, missing ? mean : values.numbers[values.offsets[node] + c]);
        }
        end_column(width == 1 ? values.name : fmt::format("{}[{}]", values.name, c));
      }
    }
    if (constant == width) return ignore(values, fmt::format("{} for every node", values.texts[0].substr(0, 20)));
    const bool missing = values.present < nodes;
    if (missing) {
      for (int64_t node = 0; node < nodes; ++node)
        add(node, columns_, values.offsets[node] == values.offsets[node + 1]);
      end_column(values.name + " is missing");
    }
    std::string kind = values.is_truth ? "0 or 1" : "number";
    if (width > 1) kind = fmt::format("{} numbers", width);
    if (constant > 0) kind += fmt::format(", without {} that are the same for every node", constant);
    if (missing) kind += fmt::format(", {} missing: the mean, and a column that says so", nodes - values.present);
    used_.push_back(fmt::format("'{}' ({})", values.name, kind));
  }

  void add_choices(const Values& values) {
    std::unordered_map<std::string_view, int64_t> place;
    for (const std::string_view text : values.distinct)
      place.emplace(text, columns_ + static_cast<int64_t>(place.size()));
    for (int64_t node = 0; node < parts_.num_nodes; ++node) {
      std::set<int64_t> chosen;
      for (int64_t v = values.offsets[node]; v < values.offsets[node + 1]; ++v)
        chosen.insert(place.at(values.texts[v]));
      for (const int64_t column : chosen) add(node, column, 1);
    }
    for (const std::string_view text : values.distinct) end_column(fmt::format("{}={}", values.name, text));
    used_.push_back(fmt::format("'{}' (one column for each of {})", values.name, list_of(values.distinct)));
  }

  std::vector<Values>& all_;
  std::vector<bool> taken_;
  GraphParts& parts_;
  std::vector<int32_t> rows_, indices_;
  std::vector<float> values_;
  int64_t columns_ = 0;
  std::vector<std::string> names_, used_, ignored_;
};

}  // namespace

AttributeReport use_attributes(std::vector<NodeAttribute> attributes, const TextColumn& ids, bool ids_only_count,
                               GraphParts& parts) {
  std::vector<Values> all;
  for (const NodeAttribute& attribute : attributes) {
    all.push_back(sorted_values(attribute, parts.num_nodes));
    examine(all.back());
  }
  AttributeReport report;
  Assigner assigner(all, parts);
  assigner.drop_drawing();
  assigner.drop_ids(ids);
  assigner.take_labels();
  assigner.take_names(ids_only_count, report.names);
  assigner.make_features();
  report.notes = std::move(assigner.notes);
  return report;
}

}  // namespace graphpae
