#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
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

constexpr size_t kDeepestJson = 1000;

bool is_word(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The document as a stream of events, so that a graph is never held as a tree.
class NodeLink : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit NodeLink(const std::string& path) : nodes(path), path_(path) { nodes.call_nodes("nodes"); }

  bool null() override { return leave_out(); }
  bool boolean(bool value) override {
    const std::string& key = keys_.empty() ? none_ : keys_.back();
    if (in(Frame::root) && key == "directed") directed_ = value;
    return scalar(value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return scalar(text); }
  bool string(string_t& value) override { return scalar(value); }
  bool binary(binary_t&) override { return true; }

  bool key(string_t& name) override {
    keys_.back() = name;
    return true;
  }

  bool start_object(size_t) override {
    const std::string key = keys_.empty() ? none_ : keys_.back();
    if (frames_.empty()) return push(Frame::root);
    if (in(Frame::root)) {
      if (is_word(key, {"nodes", "links", "edges"})) return open_list(key);
      return push(is_word(key, {"elements", "graph", "data", "network"}) ? Frame::root : Frame::skipped);
    }
    if (in(Frame::list)) return open_item(key);
    if (in(Frame::item)) {
      const bool holds_fields = is_word(key, {"data", "attributes", "metadata", "properties"});
      return push(holds_fields ? Frame::item : Frame::skipped);
    }
    return push(Frame::skipped);
  }
  bool end_object() override { return pop(); }

  bool start_array(size_t) override {
    const std::string key = keys_.empty() ? none_ : keys_.back();
    if (frames_.empty()) throw data_error(fmt::format("{}: is a list, expected {}", path_, kExpected));
    if (in(Frame::root)) return is_word(key, {"nodes", "links", "edges"}) ? open_list(key) : push(Frame::skipped);
    if (in(Frame::list)) return open_item("") && (positional_ = true);
    return push(in(Frame::item) && !positional_ ? Frame::values : Frame::skipped);
  }
  bool end_array() override { return pop(); }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    std::string what = error.what();
    if (const size_t blank = what.find("] "); blank != std::string::npos) what = what.substr(blank + 2);
    for (char& c : what) c = c == '\n' || c == '\r' ? ' ' : c;
    throw data_error(fmt::format("{}: {}", path_, what.substr(0, 200)));
  }

  GraphParts to_parts(std::vector<std::string>& notes) {
    if (!has_nodes_ && !has_edges_)
      throw data_error(fmt::format("{}: neither 'nodes' nor 'links' nor 'edges' in it, expected {}", path_, kExpected));
    for (const Link& link : links_) {
      const auto end = [&](int64_t text) { return nodes.mention(ends_[text], link.place); };
      const int32_t src = end(link.src), dst = end(link.src + 1);
      nodes.add_edge(src, dst, link.weight, link.directed.value_or(directed_));
    }
    return std::move(nodes).to_parts(notes);
  }

  AttributedGraph nodes;

 private:
  static constexpr const char* kExpected = "node-link JSON: an object with 'nodes' and 'links' or 'edges'";
  // root: an object that may hold the lists; item: of a node or edge; values: a list in it
  enum class Frame { root, list, item, values, skipped };
  struct Link {
    int64_t src;  // place in ends_, that of the target is behind it
    double weight;
    std::optional<bool> directed;
    int64_t place;
  };
  struct Field {
    std::string key;
    std::vector<std::string> values;
    bool is_list = false;
  };

  bool in(Frame frame) const { return !frames_.empty() && frames_.back() == frame; }

  bool push(Frame frame) {
    if (frames_.size() >= kDeepestJson)
      throw data_error(fmt::format("{}: values are nested deeper than {}", path_, kDeepestJson));
    if (frame == Frame::values) fields_.push_back({keys_.back(), {}, true});
    frames_.push_back(frame);
    keys_.emplace_back();
    return true;
  }

  bool pop() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    keys_.pop_back();
    if (frame == Frame::item && in(Frame::list)) close_item();
    return true;
  }

  bool open_list(const std::string& key) {
    of_nodes_ = key == "nodes";
    list_ = key;
    (of_nodes_ ? has_nodes_ : has_edges_) = true;
    if (!of_nodes_) nodes.call_edges(key);
    place_ = -1;
    return push(Frame::list);
  }

  // `key`: in an object of items their ids.
  bool open_item(const std::string& key) {
    ++place_;
    fields_.clear();
    positional_ = false;
    if (!key.empty() && of_nodes_) fields_.push_back({"id", {key}});
    return push(Frame::item);
  }

  bool leave_out() {
    if (positional_ && in(Frame::item)) fields_.push_back({"", {}});
    return true;
  }

  bool scalar(const std::string& text) {
    if (in(Frame::values)) {
      fields_.back().values.push_back(text);
    } else if (in(Frame::item)) {
      fields_.push_back({positional_ ? "" : keys_.back(), {text}});
    } else if (in(Frame::list)) {
      if (!of_nodes_) throw here("is neither an object nor a pair of nodes");
      const std::string id = keys_.back();  // of an object, whose values are anything
      open_item(id);
      if (id.empty()) fields_.push_back({"id", {text}});
      pop();
    }
    return true;
  }

  Error here(const std::string& message) const {
    return data_error(fmt::format("{}: {}[{}]: {}", path_, list_, place_, message));
  }

  const Field* field(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      for (const Field& one : fields_) {
        if (one.key == name && !one.values.empty()) return &one;
      }
    }
    return nullptr;
  }

  // A tuple of Python, which JSON makes a list: "(0, 1)".
  static std::string as_name(const Field& one) {
    return one.is_list ? fmt::format("({})", fmt::join(one.values, ", ")) : one.values[0];
  }

  void close_item() {
    if (!of_nodes_) return close_edge();
    if (positional_) throw here("is a list, expected an object");
    const Field* id = field({"id", "key"});
    const int32_t node = nodes.declare(id != nullptr ? as_name(*id) : std::to_string(place_), place_);
    for (const Field& one : fields_) {
      if (&one == id || (id != nullptr && one.key == id->key)) continue;
      for (const std::string& value : one.values) nodes.set(node, one.key, value);
    }
  }

  void close_edge() {
    if (positional_) {
      constexpr const char* kPlaces[] = {"source", "target", "weight"};
      if (fields_.size() < 2 || fields_.size() > 3) throw here("expected [source, target] or [source, target, weight]");
      for (size_t f = 0; f < fields_.size(); ++f) fields_[f].key = kPlaces[f];
    }
    const Field *source = field({"source", "from"}), *target = field({"target", "to"});
    if (source == nullptr || target == nullptr) throw here("has no source or no target");
    Link link{static_cast<int64_t>(ends_.size()), kNoWeight, std::nullopt, place_};
    ends_.push_back(as_name(*source));
    ends_.push_back(as_name(*target));
    const Field* weight = field({"weight", "value", "Weight"});
    if (weight != nullptr) {
      const std::optional<double> value = parse_real(weight->values[0]);
      if (!value && !is_missing_text(weight->values[0]))
        throw here(fmt::format("the weight '{}' is not a number", weight->values[0].substr(0, 40)));
      link.weight = value.value_or(kNoWeight);
    }
    for (const Field& one : fields_) {
      if (one.key == "directed" && !one.values.empty()) link.directed = one.values[0] == "true";
      const bool known = is_word(one.key, {"source", "target", "from", "to", "id", "key", "directed"});
      if (!known && (weight == nullptr || one.key != weight->key)) nodes.ignore_edge_attribute(one.key);
    }
    links_.push_back(link);
  }

  std::string path_, list_, none_;
  std::vector<Frame> frames_;
  std::vector<std::string> keys_;  // of the open objects, the last that was seen
  std::vector<Field> fields_;      // of the item
  TextColumn ends_;
  std::vector<Link> links_;
  int64_t place_ = -1;
  bool directed_ = false, of_nodes_ = false, has_nodes_ = false, has_edges_ = false;
  bool positional_ = false;  // the item is a list
};

}  // namespace

GraphParts read_node_link_json(const std::string& path, std::vector<std::string>& notes) {
  const std::string text = read_file(path);
  NodeLink reader(path);
  nlohmann::json::sax_parse(text, &reader);
  return reader.to_parts(notes);
}

}  // namespace graphpae
