#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/data/attributed_graph.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr size_t kDeepestList = 1000;

void append_utf8(uint32_t code, std::string& text) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | code >> 18);
    text += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// &quot; &#246; &#xf6; and the like become characters; what is none of them stays.
std::string without_entities(std::string_view text) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"quot", '"'}, {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"apos", '\''}};
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t end = text[at] == '&' ? text.substr(at, 12).find(';') : std::string_view::npos;
    if (end == std::string_view::npos) {
      result += text[at];
      continue;
    }
    std::string_view name = text.substr(at + 1, end - 1);
    const size_t before = result.size();
    for (const auto& [word, character] : kNamed) {
      if (name == word) result += character;
    }
    if (name.starts_with('#')) {
      const int base = name.starts_with("#x") ? 16 : 10;
      name.remove_prefix(base == 16 ? 2 : 1);
      uint32_t code = 0;
      const auto [stop, failure] = std::from_chars(name.data(), name.data() + name.size(), code, base);
      const bool surrogate = code >= 0xd800 && code < 0xe000;
      if (failure == std::errc{} && stop == name.data() + name.size() && code > 0 && code < 0x110000 && !surrogate)
        append_utf8(code, result);
    }
    if (result.size() == before) {
      result += '&';
    } else {
      at += end;
    }
  }
  return result;
}

struct GmlToken {
  enum Kind { word, text, number, open, close, end } kind = end;
  std::string_view content;
  int64_t line = 0;
};

class GmlTokens {
 public:
  GmlTokens(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  GmlToken next() {
    skip_blanks();
    GmlToken token{GmlToken::end, {}, line_};
    if (rest_.empty()) return token;
    const char first = rest_[0];
    if (first == '[' || first == ']') {
      token.kind = first == '[' ? GmlToken::open : GmlToken::close;
      rest_.remove_prefix(1);
      return token;
    }
    if (first == '"') {
      const size_t close = rest_.find('"', 1);
      if (close == std::string_view::npos) throw error(line_, "a quote is not closed");
      token.kind = GmlToken::text;
      token.content = rest_.substr(1, close - 1);
      for (const char c : token.content) line_ += c == '\n';
      rest_.remove_prefix(close + 1);
      return token;
    }
    const size_t size = std::min(rest_.find_first_of(" \t\r\n[]\""), rest_.size());
    token.content = rest_.substr(0, size);
    rest_.remove_prefix(size);
    token.kind = parse_real(token.content) ? GmlToken::number : GmlToken::word;
    return token;
  }

  Error error(int64_t line, const std::string& message) const {
    return data_error(fmt::format("{}:{}: {}", path_, line, message));
  }

 private:
  void skip_blanks() {
    while (!rest_.empty()) {
      const char c = rest_[0];
      if (c == '#' && at_line_start_) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
        continue;
      }
      if (c != '\n' && c != ' ' && c != '\t' && c != '\r') break;
      line_ += c == '\n';
      at_line_start_ = c == '\n' || (at_line_start_ && c != '\n');
      rest_.remove_prefix(1);
    }
    at_line_start_ = false;
  }

  const std::string& path_;
  std::string_view rest_;
  int64_t line_ = 1;
  bool at_line_start_ = true;
};

// graph [ directed 0 node [ id 1 label "a" ... ] edge [ source 1 target 2 ... ] ]
class Gml {
 public:
  explicit Gml(const std::string& path) : graph(path) {}

  void read(GmlTokens tokens) {
    for (GmlToken key = tokens.next(); key.kind != GmlToken::end; key = tokens.next()) {
      if (key.kind == GmlToken::close) {
        if (lists_.empty()) throw tokens.error(key.line, "a ']' without a '['");
        close_list();
        continue;
      }
      if (key.kind != GmlToken::word)
        throw tokens.error(key.line, fmt::format("'{}' stands where a key is expected", key.content.substr(0, 40)));
      const GmlToken value = tokens.next();
      if (value.kind == GmlToken::open) {
        if (lists_.size() >= kDeepestList)
          throw tokens.error(key.line, fmt::format("lists are nested deeper than {}", kDeepestList));
        open_list(key);
      } else if (value.kind == GmlToken::close || value.kind == GmlToken::end) {
        throw tokens.error(key.line, fmt::format("'{}' has no value", key.content.substr(0, 40)));
      } else {
        take(key.content, value);
      }
    }
    if (!lists_.empty()) throw tokens.error(lists_.back().line, "a '[' is not closed");
  }

  AttributedGraph graph;
  int64_t graphs = 0;

 private:
  enum class Inside { graph, node, edge, other };
  struct List {
    Inside inside;
    int64_t line;
  };

  void open_list(const GmlToken& key) {
    Inside inside = Inside::other;
    if (lists_.empty() && lower(key.content) == "graph") {
      if (++graphs == 1) inside = Inside::graph;
    } else if (!lists_.empty() && lists_.back().inside == Inside::graph) {
      if (key.content == "node") inside = Inside::node;
      if (key.content == "edge") inside = Inside::edge;
    }
    if (inside == Inside::node || inside == Inside::edge) {
      id_.clear();
      source_.clear();
      target_.clear();
      fields_.clear();
      weight_ = value_ = kNoWeight;
    }
    lists_.push_back({inside, key.line});
  }

  void take(std::string_view key, const GmlToken& value) {
    const Inside inside = lists_.empty() ? Inside::other : lists_.back().inside;
    if (inside == Inside::graph && key == "directed") {
      directed_ = value.content == "1";
    } else if (inside == Inside::node) {
      if (key == "id") {
        id_ = value.content;
      } else if (value.content != "_networkx_list_start") {
        fields_.emplace_back(
            key, value.kind == GmlToken::text ? without_entities(value.content) : std::string(value.content));
      }
    } else if (inside == Inside::edge) {
      take_of_edge(key, value);
    }
  }

  void take_of_edge(std::string_view key, const GmlToken& value) {
    if (key == "source") {
      source_ = value.content;
    } else if (key == "target") {
      target_ = value.content;
    } else if (is_weight_name(key)) {
      const std::optional<double> weight = parse_real(value.content);
      if (!weight && !is_missing_text(value.content))
        throw graph.error(value.line, fmt::format("the weight '{}' is not a number", value.content.substr(0, 40)));
      (lower(key) == "weight" ? weight_ : value_) = weight.value_or(kNoWeight);
    } else if (key != "id" && key != "key") {
      graph.ignore_edge_attribute(key);
    }
  }

  void close_list() {
    const List list = lists_.back();
    lists_.pop_back();
    if (list.inside == Inside::node) {
      if (id_.empty()) throw graph.error(list.line, "a node without an id");
      const int32_t node = graph.declare(id_, list.line);
      for (const auto& [key, value] : fields_) graph.set(node, key, value);
    } else if (list.inside == Inside::edge) {
      if (source_.empty() || target_.empty()) throw graph.error(list.line, "an edge without a source or a target");
      const int32_t src = graph.mention(source_, list.line), dst = graph.mention(target_, list.line);
      graph.add_edge(src, dst, std::isnan(weight_) ? value_ : weight_, directed_);
    }
  }

  std::vector<List> lists_;
  bool directed_ = false;
  std::string id_, source_, target_;
  double weight_ = kNoWeight, value_ = kNoWeight;
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace

GraphParts read_gml(const std::string& path, std::vector<std::string>& notes) {
  const std::string text = to_utf8(read_file(path));
  Gml reader(path);
  reader.read(GmlTokens(path, std::string_view(text).substr(text.starts_with("\xef\xbb\xbf") ? 3 : 0)));
  if (reader.graphs == 0) throw data_error(fmt::format("{}: no 'graph [' in it", path));
  if (reader.graphs > 1) notes.push_back(fmt::format("{}: holds {} graphs; the first is read", path, reader.graphs));
  return std::move(reader.graph).to_parts(notes);
}

}  // namespace graphpae
