#include "graphpae/data/edge_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/data/table_sample.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

// Letters and digits of a name in lower case, without what only says that it is an id: "Source_ID" -> "source".
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0) plain += static_cast<char>(std::tolower(c));
  }
  for (const std::string_view end : {"id", "name", "key"}) {
    if (plain.size() > end.size() + 1 && plain.ends_with(end)) plain.resize(plain.size() - end.size());
  }
  return plain;
}

struct EndNames {
  std::string_view source, target;
  bool directed;  // words that say so; src and dst are the ends of any edge
};
constexpr EndNames kKnownEnds[] = {
    {"src", "dst", false},
    {"source", "target", false},
    {"src", "tgt", false},
    {"src", "dest", false},
    {"source", "destination", false},
    {"from", "to", true},
    {"fromnode", "tonode", true},
    {"citing", "cited", true},
    {"citingpaper", "citedpaper", true},
    {"u", "v", false},
    {"i", "j", false},
    {"a", "b", false},
    {"node1", "node2", false},
    {"n1", "n2", false},
    {"id1", "id2", false},
    {"v1", "v2", false},
    {"vertex1", "vertex2", false},
    {"user1", "user2", false},
    {"protein1", "protein2", false},
    {"gene1", "gene2", false},
    {"nodea", "nodeb", false},
    {"head", "tail", true},
    {"subject", "object", true},
    {"start", "end", true},
    {"follower", "followee", true},
    {"follower", "followed", true},
    {"sender", "receiver", true},
    {"sender", "recipient", true},
    {"parent", "child", true},
    {"caller", "callee", true},
    {"origin", "destination", true},
    {"row", "col", false},
    {"row", "column", false},
    {"left", "right", false},
    {"node", "node", false},
    {"node", "neighbor", false},
    {"node", "neighbour", false},
    {"trustor", "trustee", true},
    {"rater", "ratee", true},
};

bool is_weight_name(std::string_view name) {
  constexpr std::string_view kNames[] = {"weight", "weights", "w", "wt", "edgeweight", "strength"};
  return std::find(std::begin(kNames), std::end(kNames), plain_name(name)) != std::end(kNames);
}

// Names of columns that say something about an edge and are not one of its ends.
bool is_attribute_name(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "time",  "timestamp", "date",  "year", "month", "day",   "label", "labels", "type",     "class", "score",
      "value", "rating",    "count", "sign", "index", "split", "edge",  "y",      "relation", "rel",   "number"};
  const std::string plain = plain_name(name);
  return is_weight_name(name) || plain.empty() || lower(name).starts_with("unnamed:") ||
         std::find(std::begin(kNames), std::end(kNames), plain) != std::end(kNames);
}

struct Ends {
  int source, target;
  bool directed = false;
};

std::optional<Ends> known_ends(const std::vector<std::string>& names) {
  std::vector<std::string> plain;
  for (const std::string& name : names) plain.push_back(plain_name(name));
  for (const EndNames& ends : kKnownEnds) {
    const auto source = std::find(plain.begin(), plain.end(), ends.source);
    if (source == plain.end()) continue;
    const auto target = std::find_if(plain.begin(), plain.end(),
                                     [&](const std::string& name) { return name == ends.target && &name != &*source; });
    if (target == plain.end()) continue;
    return Ends{static_cast<int>(source - plain.begin()), static_cast<int>(target - plain.begin()), ends.directed};
  }
  return std::nullopt;
}

class Recognition {
 public:
  Recognition(const TableSample& sample, NodeIds ids, const std::string& wanted)
      : sample_(sample), ids_(ids), wanted_(wanted) {}

  EdgeColumns run() {
    const auto& rows = sample_.rows;
    EdgeColumns found;
    found.lines.delimiter = sample_.delimiter;
    found.announced_nodes = sample_.announced_nodes;
    if (rows.empty()) return found;
    check_width(0);
    find_header();
    found.has_header = body_ == 1;
    if (body_ < rows.size()) check_width(body_);
    const size_t columns = rows[std::min(body_, rows.size() - 1)].size();
    if (found.has_header) found.names = header_;
    for (size_t c = found.names.size(); c < columns; ++c) found.names.push_back(std::to_string(c + 1));
    found.names.resize(columns);
    found.has_edges = body_ < rows.size();
    found.lines.columns = static_cast<int>(columns);
    found.lines.first_line = found.has_edges ? sample_.lines[body_] : sample_.lines.back() + 1;
    for (size_t c = 0; c < columns; ++c) facts_.push_back(facts_of(sample_, body_, c));

    const Ends ends = wanted_.empty() ? choose_ends(found) : wanted_ends(found);
    found.lines.source = ends.source;
    found.lines.target = ends.target;
    found.leads_somewhere = ends.directed;
    if (wanted_.empty() && found.has_header) {
      const auto weight = std::find_if(found.names.begin(), found.names.end(), is_weight_name);
      const int place = static_cast<int>(weight - found.names.begin());
      if (weight != found.names.end() && place != ends.source && place != ends.target) found.lines.weight = place;
    }
    if (found.has_edges) {
      const auto& first = rows[body_];
      found.numeric = ids_ != NodeIds::names &&
                      (ids_ == NodeIds::numbers || (parse_int(first[ends.source]) && parse_int(first[ends.target])));
    }
    return found;
  }

 private:
  [[noreturn]] void ask(const std::string& why) const {
    std::string text = fmt::format(
        "{}: {} The first rows are {}; say --columns SOURCE,TARGET or --columns SOURCE,TARGET,WEIGHT, by name "
        "or by number from 1",
        sample_.path, why, shown_rows(sample_));
    const bool words = std::any_of(facts_.begin(), facts_.end(), [](const ColumnFacts& f) { return !f.numbers; });
    if (words) text += ", or --smiles-column NAME for a table of molecules";
    throw data_error(text);
  }

  Error at_line(size_t row, const std::string& message) const {
    return data_error(fmt::format("{}:{}: {}", sample_.path, sample_.lines[row], message));
  }

  void check_width(size_t row) const {
    if (sample_.rows[row].size() >= 2) return;
    throw at_line(row,
                  fmt::format("'{}' is not an edge: two columns are expected", sample_.rows[row][0].substr(0, 40)));
  }

  // Whether the words of the first row come again where the ends of edges would be, or are single letters as other
  // names are: then it is an edge.
  bool first_row_is_edge(const Ends& ends) const {
    const std::string &source = sample_.rows[0][ends.source], &target = sample_.rows[0][ends.target];
    const bool letters = source.size() == 1 && target.size() == 1;
    for (size_t row = 1; row < sample_.rows.size(); ++row) {
      for (const int c : {ends.source, ends.target}) {
        if (static_cast<size_t>(c) >= sample_.rows[row].size()) continue;
        const std::string& text = sample_.rows[row][static_cast<size_t>(c)];
        if (text == source || text == target) return true;
        if (letters && text.size() == 1 && !parse_int(text)) return true;
      }
    }
    return false;
  }

  // Sets header_ and where the rows below it start.
  void find_header() {
    const std::vector<std::string>& first = sample_.rows[0];
    header_ = first;
    body_ = 1;
    const auto is_number = [](const std::string& text) { return parse_real(text).has_value(); };
    if (std::all_of(first.begin(), first.end(), is_number)) return no_header();
    if (sample_.rows.size() > 1 && sample_.rows[1].size() == first.size() + 1 && facts_of(sample_, 1, 0).counting) {
      header_.insert(header_.begin(), "");  // row names below a header that leaves them out, as R writes
      return;
    }
    if (!wanted_.empty() && wanted_names_are_in(first)) return;
    if (const auto ends = known_ends(first); ends && !first_row_is_edge(*ends)) return;
    if (ids_ == NodeIds::numbers && !(parse_int(first[0]) && parse_int(first[1]))) return;
    // Words above numbers.
    for (size_t c = 0; c < first.size() && sample_.rows.size() > 1; ++c) {
      if (is_number(first[c]) || !facts_of(sample_, 1, c).numbers) continue;
      return;
    }
    if (wanted_.empty() && looks_like_a_header()) {
      ask(fmt::format(
          "is the first row a header? '{}' and '{}' do not come again, other names do (--columns {},{} if it "
          "is one, --columns 1,2 if it is an edge).",
          first[0], first[1], first[0], first[1]));
    }
    no_header();
  }

  void no_header() {
    header_.clear();
    body_ = 0;
  }

  // Two words that occur once above names of which nearly every row holds one that comes again.
  bool looks_like_a_header() const {
    constexpr size_t kRows = 8;
    constexpr double kShare = 0.9;
    if (sample_.rows[0].size() != 2 || sample_.rows.size() <= kRows) return false;
    std::unordered_map<std::string, int> times;
    for (const auto& row : sample_.rows) {
      for (size_t c = 0; c < std::min<size_t>(2, row.size()); ++c) ++times[row[c]];
    }
    const auto recurs = [&](const std::vector<std::string>& row) {
      return std::any_of(row.begin(), row.end(), [&](const std::string& name) { return times[name] > 1; });
    };
    const auto recurring = std::count_if(sample_.rows.begin() + 1, sample_.rows.end(), recurs);
    return !recurs(sample_.rows[0]) &&
           static_cast<double>(recurring) >= kShare * static_cast<double>(sample_.rows.size() - 1);
  }

  std::vector<std::string> wanted_fields() const {
    std::vector<std::string> fields;
    if (!split_fields(wanted_, ',', fields) || fields.size() < 2 || fields.size() > 3)
      throw usage_error(fmt::format("--columns {}: expected SOURCE,TARGET or SOURCE,TARGET,WEIGHT", wanted_));
    for (std::string& field : fields) field = std::string(trim(field));
    return fields;
  }

  bool wanted_names_are_in(const std::vector<std::string>& names) const {
    for (const std::string& field : wanted_fields()) {
      if (std::find(names.begin(), names.end(), field) == names.end()) return false;
    }
    return true;
  }

  // By name, else by number from 1; fills in the weight, too.
  Ends wanted_ends(EdgeColumns& found) const {
    std::vector<int> places;
    for (const std::string& field : wanted_fields()) {
      const auto named = std::find(found.names.begin(), found.names.end(), field);
      const int64_t number = parse_int(field).value_or(0);
      if (found.has_header && named != found.names.end()) {
        places.push_back(static_cast<int>(named - found.names.begin()));
      } else if (number >= 1 && number <= found.lines.columns) {
        places.push_back(static_cast<int>(number) - 1);
      } else {
        throw usage_error(fmt::format("--columns {}: {} has no column '{}'{}; there are {}", wanted_, sample_.path,
                                      field, did_you_mean(field, found.names), fmt::join(found.names, ", ")));
      }
    }
    if (places[0] == places[1] || (places.size() == 3 && (places[2] == places[0] || places[2] == places[1])))
      throw usage_error(fmt::format("--columns {}: a column is named twice", wanted_));
    if (places.size() == 3) found.lines.weight = places[2];
    return {places[0], places[1]};
  }

  bool alike(size_t a, size_t b) const {
    return facts_[a].numbers == facts_[b].numbers && facts_[a].whole == facts_[b].whole;
  }

  Ends choose_ends(const EdgeColumns& found) const {
    if (found.has_header) {
      if (const auto ends = known_ends(found.names)) return *ends;
    }
    const size_t columns = facts_.size();
    if (!found.has_edges) return {0, 1};
    for (const auto& row : sample_.rows) {
      for (size_t c = 0; c < std::min(columns, row.size()); ++c) {
        if (row[c].starts_with("InChI=")) ask(fmt::format("column '{}' holds InChI, not nodes.", found.names[c]));
      }
    }
    if (ids_ == NodeIds::numbers || columns == 2) return first_two(found);
    return found.has_header ? named_columns(found) : unnamed_columns();
  }

  Ends first_two(const EdgeColumns& found) const {
    if (ids_ == NodeIds::numbers) return {0, 1};
    const auto is_attribute = [&](size_t c) { return found.has_header && is_attribute_name(found.names[c]); };
    if (is_attribute(0) || is_attribute(1))
      ask(fmt::format("columns '{}' and '{}' do not look like the ends of edges.", found.names[0], found.names[1]));
    if (sample_.rows.size() - body_ < 2) return {0, 1};  // too few to tell
    for (const size_t c : {0, 1}) {
      if (facts_[c].numbers && !facts_[c].whole && ids_ != NodeIds::names) {
        // A number among names is a typing error that its line tells better.
        const bool first_is_whole = parse_int(sample_.rows[body_][c]).has_value();
        if (!first_is_whole) ask(fmt::format("column '{}' holds numbers that are not whole.", found.names[c]));
      }
    }
    const bool numbers_and_words = facts_[0].numbers != facts_[1].numbers;
    const bool first_is_edge = parse_int(sample_.rows[body_][0]) && parse_int(sample_.rows[body_][1]);
    if (numbers_and_words && !first_is_edge && ids_ != NodeIds::names)
      ask("one column holds numbers and the other words: are these edges?");
    return {0, 1};
  }

  // A header of names that are not known.
  Ends named_columns(const EdgeColumns& found) const {
    std::vector<size_t> candidates;
    for (size_t c = 0; c < facts_.size(); ++c) {
      if ((facts_[c].whole || !facts_[c].numbers) && !is_attribute_name(found.names[c])) candidates.push_back(c);
    }
    if (candidates.size() == 2 && alike(candidates[0], candidates[1]))
      return {static_cast<int>(candidates[0]), static_cast<int>(candidates[1])};
    if (const auto pair = clearest_pair(candidates)) return *pair;
    ask("which columns are the ends of edges?");
  }

  // The first two, unless another pair shares more values or the first only counts the rows.
  Ends unnamed_columns() const {
    constexpr size_t kMany = 8;
    if (facts_.size() >= kMany) {
      const bool square = facts_.size() == sample_.rows.size() - body_;
      ask(square ? "it has as many rows as columns, so it may be an adjacency matrix."
                 : fmt::format("which of {} columns are the ends of edges?", facts_.size()));
    }
    std::vector<size_t> candidates;
    for (size_t c = 0; c < facts_.size(); ++c) {
      if (facts_[c].whole || !facts_[c].numbers) candidates.push_back(c);
    }
    const bool few = sample_.rows.size() - body_ < 3;
    if (candidates.size() >= 2 && candidates[0] == 0 && candidates[1] == 1 && alike(0, 1)) {
      if (facts_[0].counting && facts_[2].whole && shared_values(facts_[1], facts_[2]) > 0)
        ask("the first column counts the rows: is it one of the ends?");
      const auto clearest = few ? std::nullopt : clearest_pair(candidates);
      if (!clearest || (clearest->source == 0 && clearest->target == 1)) return {0, 1};
    } else if (few) {
      return {0, 1};  // the lines themselves say what is wrong
    }
    ask("which columns are the ends of edges?");
  }

  // The pair that shares values while no other one does half as much.
  std::optional<Ends> clearest_pair(const std::vector<size_t>& candidates) const {
    constexpr double kClear = 0.05;
    double best = 0, second = 0;
    std::optional<Ends> pair;
    for (size_t a = 0; a < candidates.size(); ++a) {
      for (size_t b = a + 1; b < candidates.size(); ++b) {
        if (!alike(candidates[a], candidates[b])) continue;
        const double shared = shared_values(facts_[candidates[a]], facts_[candidates[b]]);
        if (shared > best) {
          second = best;
          best = shared;
          pair = Ends{static_cast<int>(candidates[a]), static_cast<int>(candidates[b])};
        } else {
          second = std::max(second, shared);
        }
      }
    }
    return best >= kClear && second < best / 2 ? pair : std::nullopt;
  }

  const TableSample& sample_;
  NodeIds ids_;
  const std::string& wanted_;
  std::vector<std::string> header_;
  size_t body_ = 0;  // the first row below the header
  std::vector<ColumnFacts> facts_;
};

}  // namespace

std::vector<std::string> EdgeColumns::left_out() const {
  std::vector<std::string> columns;
  for (int c = 0; c < lines.columns && has_edges; ++c) {
    if (c != lines.source && c != lines.target && c != lines.weight)
      columns.push_back(name(c).empty() ? fmt::format("{} (without a name)", c + 1) : name(c));
  }
  return columns;
}

EdgeColumns recognise_edge_columns(const std::string& path, NodeIds ids, const std::string& wanted) {
  const TableSample sample = sample_table(path);
  return Recognition(sample, ids, wanted).run();
}

}  // namespace graphpae
