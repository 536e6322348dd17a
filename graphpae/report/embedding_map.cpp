#include "graphpae/report/embedding_map.h"

#include <nlohmann/json.hpp>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kForm = 1;
constexpr size_t kLongestFile = size_t{64} << 20;

void check(const EmbeddingMap& map) {
  const size_t n = map.ids.size();
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw data_error(what);
  };
  require(map.group.size() == n, "`group` does not number `ids`");
  require(map.drawings.empty() || map.drawings.size() == n, "`drawings` do not number `ids`");
  require(static_cast<int64_t>(n) <= map.total, "more points than `total`");
  const auto groups = static_cast<int32_t>(map.groups.size());
  for (const int32_t g : map.group) require(g >= 0 && g < groups, "`group` names a group that is not there");
  for (const auto& projection : map.projections)
    require(projection.x.size() == n && projection.y.size() == n, "coordinates do not number `ids`");
}

// In the order of the file.
template <class Map, class Visit>
void visit_fields(Map& map, const Visit& visit) {
  visit("kind", map.kind);
  visit("total", map.total);
  visit("grouped_by", map.grouped_by);
  visit("groups", map.groups);
  visit("ordered", map.ordered);
  visit("notes", map.notes);
  visit("ids", map.ids);
  visit("group", map.group);
  visit("projections", map.projections);
  visit("drawings", map.drawings);
}

}  // namespace

// For the JSON library.
void to_json(Json& json, const EmbeddingMap::Projection& p) {
  json = {{"name", p.name}, {"note", p.note}, {"x", p.x}, {"y", p.y}};
}
void from_json(const Json& json, EmbeddingMap::Projection& p) {
  p = {json.at("name"), json.at("note"), json.at("x"), json.at("y")};
}

void write_map(const std::string& path, const EmbeddingMap& map) {
  check(map);
  Json json = {{"format", "graphpae map"}, {"version", kForm}};
  visit_fields(map, [&](const char* key, const auto& field) { json[key] = field; });
  // Names in files may be in any encoding.
  write_file(path, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

EmbeddingMap read_map(const std::string& path) {
  return naming(path, [&] {
    try {
      const Json json = Json::parse(read_file(path, kLongestFile));
      if (json.at("format") != "graphpae map") throw data_error("is not a map of embeddings");
      if (json.at("version").get<int64_t>() > kForm) throw data_error("was written by a newer version of graphpae");
      EmbeddingMap map;
      visit_fields(map, [&](const char* key, auto& field) { json.at(key).get_to(field); });
      check(map);
      return map;
    } catch (const Json::exception&) {
      throw data_error("is not a map of embeddings");
    }
  });
}

}  // namespace graphpae
