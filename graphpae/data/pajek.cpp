#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/data/attributed_graph.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr int64_t kUnlistedVertices = 10000;  // more must be listed, or have edges

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Pajek {
 public:
  explicit Pajek(const std::string& path) : graph(path), reader_(path) {}

  void read() {
    std::string_view raw;
    while (reader_.next(raw)) {
      const std::string line = to_utf8(trim(raw));
      if (line.empty() || line[0] == '%') continue;
      split(line);
      if (line[0] == '*') {
        if (!open_section()) break;
        continue;
      }
      if (section_ == "vertices") {
        vertex();
      } else if (section_ == "arcs" || section_ == "edges") {
        edge();
      } else if (section_ == "arcslist" || section_ == "edgeslist") {
        edges_of_one();
      } else if (section_ == "matrix") {
        matrix_row();
      } else if (section_.empty()) {
        throw reader_.error(fmt::format("'{}' stands before *Vertices", line.substr(0, 40)));
      }
    }
    if (count_ < 0) throw data_error(fmt::format("{}: no *Vertices in it", graph.path()));
    if (section_ == "matrix" && row_ != count_)
      throw reader_.error(fmt::format("*Matrix has {} rows, expected {}", row_, count_));
    declare_all();
  }

  AttributedGraph graph;
  std::string rest;  // the section that was not read, nor what follows

 private:
  struct Vertex {
    std::string label;
    std::vector<std::pair<std::string, std::string>> fields;
  };
  struct Line {
    Edge edge;
    double weight;
    bool directed;
    int64_t line;
  };

  // Words, and texts in quotes, of which quoted_ says so.
  void split(std::string_view line) {
    words_.clear();
    quoted_.clear();
    while (!(line = trim(line)).empty()) {
      if (line[0] == '"') {
        const size_t close = line.find('"', 1);
        if (close == std::string_view::npos) throw reader_.error("a quote is not closed");
        words_.emplace_back(line.substr(1, close - 1));
        quoted_.push_back(true);
        line.remove_prefix(close + 1);
        continue;
      }
      const size_t size = std::min(line.find_first_of(" \t\""), line.size());
      words_.emplace_back(line.substr(0, size));
      quoted_.push_back(false);
      line.remove_prefix(size);
    }
  }

  // False where reading ends: at a second network, a partition or a vector.
  bool open_section() {
    const std::string name = lower(std::string_view(words_[0]).substr(1));
    if (name == "network" && count_ < 0) return true;
    if (name == "vertices" && count_ < 0) {
      const std::optional<int64_t> count = words_.size() > 1 ? parse_int(words_[1]) : std::nullopt;
      if (!count || *count < 0 || *count >= kMaxNodes)
        throw reader_.error(
            fmt::format("*Vertices '{}', expected their number", words_.size() > 1 ? words_[1].substr(0, 40) : ""));
      count_ = *count;
    } else if (!is_one_of(name, {"arcs", "edges", "arcslist", "edgeslist", "matrix"})) {
      if (count_ < 0) throw reader_.error(fmt::format("'{}', expected *Vertices", words_[0].substr(0, 40)));
      rest = words_[0].substr(0, 40);
      return false;
    } else if (count_ < 0) {
      throw reader_.error(fmt::format("'{}' before *Vertices", words_[0]));
    }
    section_ = name;
    return true;
  }

  int64_t number(size_t word) {
    const std::optional<int64_t> value = word < words_.size() ? parse_int(words_[word]) : std::nullopt;
    if (!value)
      throw reader_.error(word < words_.size() ? fmt::format("'{}' is not a vertex number", words_[word].substr(0, 40))
                                               : "two vertex numbers are expected");
    if (*value < 1 || *value > count_) throw reader_.error(fmt::format("vertex {} is outside 1..{}", *value, count_));
    return *value;
  }

  // number "label" x y z shape key value ...
  void vertex() {
    Vertex one;
    const int64_t place = number(0);
    if (words_.size() > 1) one.label = words_[1];
    size_t at = 2;
    for (int c = 0; c < 3 && at < words_.size() && !quoted_[at] && parse_real(words_[at]); ++c) ++at;
    has_coordinates = has_coordinates || at > 2;
    if (at < words_.size() && is_one_of(lower(words_[at]), {"ellipse", "box", "diamond", "triangle", "cross", "empty",
                                                            "house", "man", "woman"}))
      ++at;
    for (; at + 1 < words_.size(); at += 2) {
      // How a vertex is drawn: sizes, colours, borders, fonts.
      if (!is_one_of(lower(words_[at]), {"s_size", "x_fact", "y_fact", "phi", "r", "q", "ic", "bc", "bw", "lc", "la",
                                         "lr", "lphi", "fos", "font", "hook"}))
        one.fields.emplace_back(words_[at], words_[at + 1]);
    }
    if (!vertices_.emplace(place, std::move(one)).second)
      throw reader_.error(fmt::format("a second line for vertex {}", place));
  }

  void add(int64_t src, int64_t dst, double weight, bool directed) {
    edges_.push_back({{static_cast<int32_t>(src), static_cast<int32_t>(dst)}, weight, directed, reader_.line_number()});
  }

  void edge() {
    const int64_t src = number(0), dst = number(1);
    double weight = kNoWeight;
    if (words_.size() > 2 && !quoted_[2]) {
      const std::optional<double> value = parse_real(words_[2]);
      if (value) weight = *value;  // a word begins the attributes of the drawing
    }
    add(src, dst, weight, section_ == "arcs");
  }

  void edges_of_one() {
    const int64_t src = number(0);
    for (size_t word = 1; word < words_.size(); ++word) add(src, number(word), kNoWeight, section_ == "arcslist");
  }

  void matrix_row() {
    if (++row_ > count_) throw reader_.error(fmt::format("*Matrix has more than {} rows", count_));
    if (static_cast<int64_t>(words_.size()) != count_)
      throw reader_.error(fmt::format("{} numbers, expected {}", words_.size(), count_));
    for (int64_t column = 0; column < count_; ++column) {
      const std::optional<double> value = parse_real(words_[column]);
      if (!value) throw reader_.error(fmt::format("'{}' is not a number", words_[column].substr(0, 40)));
      if (*value != 0) add(row_, column + 1, *value, true);
    }
  }

  bool is_symmetric() const {
    std::map<std::pair<int32_t, int32_t>, double> weights;
    for (const Line& line : edges_) weights[{line.edge.src, line.edge.dst}] = line.weight;
    return std::all_of(weights.begin(), weights.end(), [&](const auto& one) {
      const auto back = weights.find({one.first.second, one.first.first});
      return back != weights.end() && back->second == one.second;
    });
  }

  void declare_all() {
    if (count_ > static_cast<int64_t>(64 * (vertices_.size() + edges_.size())) + kUnlistedVertices)
      throw data_error(fmt::format("{}: *Vertices {}, but {} are listed and {} edges", graph.path(), count_,
                                   vertices_.size(), edges_.size()));
    for (int64_t place = 1; place <= count_; ++place) {
      const std::string id = std::to_string(place);
      const int32_t node = graph.declare(id, reader_.line_number());
      const auto found = vertices_.find(place);
      if (found == vertices_.end()) {
        graph.set(node, "label", id);
        continue;
      }
      graph.set(node, "label", found->second.label.empty() ? id : found->second.label);
      for (const auto& [key, value] : found->second.fields) graph.set(node, key, value);
    }
    const bool both_ways = section_ == "matrix" && is_symmetric();
    for (const Line& line : edges_) {
      graph.add_edge(graph.mention(std::to_string(line.edge.src), line.line),
                     graph.mention(std::to_string(line.edge.dst), line.line), line.weight, line.directed && !both_ways);
    }
  }

 public:
  bool has_coordinates = false;

 private:
  LineReader reader_;
  std::string section_;
  std::vector<std::string> words_;
  std::vector<bool> quoted_;
  int64_t count_ = -1, row_ = 0;
  std::unordered_map<int64_t, Vertex> vertices_;
  std::vector<Line> edges_;
};

}  // namespace

GraphParts read_pajek(const std::string& path, std::vector<std::string>& notes) {
  Pajek reader(path);
  reader.read();
  if (!reader.rest.empty()) notes.push_back(fmt::format("{}: '{}' and what follows it is not read", path, reader.rest));
  if (reader.has_coordinates) notes.push_back(fmt::format("{}: coordinates of the drawing are ignored", path));
  return std::move(reader.graph).to_parts(notes);
}

}  // namespace graphpae
