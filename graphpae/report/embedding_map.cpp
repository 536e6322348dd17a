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

}  // namespace

void write_map(const std::string& path, const EmbeddingMap& map) {
  check(map);
  Json projections = Json::array();
  for (const auto& p : map.projections)
    projections.push_back({{"name", p.name}, {"note", p.note}, {"x", p.x}, {"y", p.y}});
  const Json json = {{"format", "graphpae map"},
                     {"version", kForm},
                     {"kind", map.kind},
                     {"total", map.total},
                     {"grouped_by", map.grouped_by},
                     {"groups", map.groups},
                     {"ordered", map.ordered},
                     {"notes", map.notes},
                     {"ids", map.ids},
                     {"group", map.group},
                     {"projections", projections},
                     {"drawings", map.drawings}};
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
      json.at("kind").get_to(map.kind);
      json.at("total").get_to(map.total);
      json.at("grouped_by").get_to(map.grouped_by);
      json.at("groups").get_to(map.groups);
      json.at("ordered").get_to(map.ordered);
      json.at("notes").get_to(map.notes);
      json.at("ids").get_to(map.ids);
      json.at("group").get_to(map.group);
      json.at("drawings").get_to(map.drawings);
      for (const Json& p : json.at("projections"))
        map.projections.push_back({p.at("name"), p.at("note"), p.at("x"), p.at("y")});
      check(map);
      return map;
    } catch (const Json::exception&) {
      throw data_error("is not a map of embeddings");
    }
  });
}

}  // namespace graphpae
