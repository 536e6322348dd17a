#include "graphpae/data/molecule_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/mapped_file.h"
#include "graphpae/io/sha256.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "shards are little-endian");

constexpr const char* kManifest = "shards.json";
constexpr const char* kFormat = "graphpae shards";
constexpr int64_t kVersion = 1;
constexpr size_t kAlignment = 64;
constexpr size_t kLargestManifest = size_t{1} << 30;

struct Header {
  char magic[8] = {'g', 'p', 'a', 'e', 's', 'h', 'r', 'd'};
  int64_t version = kVersion;
  int64_t molecules = 0, atoms = 0, bonds = 0, k = 0, atom_columns = 0, bond_columns = 0;

  bool operator==(const Header& other) const { return std::memcmp(this, &other, sizeof(Header)) == 0; }
};
static_assert(sizeof(Header) == 64);

Header header_of(const ShardManifest& manifest, const ShardEntry& entry) {
  const CodeSizes sizes = code_sizes(manifest.featurizer);
  Header header;
  header.molecules = entry.molecules;
  header.atoms = entry.atoms;
  header.bonds = entry.bonds;
  header.k = manifest.k;
  header.atom_columns = static_cast<int64_t>(sizes.atoms.size());
  header.bond_columns = static_cast<int64_t>(sizes.bonds.size());
  return header;
}

size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

// Of the header and of all arrays.
size_t file_size(const Header& h) {
  const auto bytes = [](int64_t count, size_t width) { return aligned(static_cast<size_t>(count) * width); };
  return sizeof(Header) + 2 * bytes(h.molecules + 1, sizeof(int64_t)) + bytes(h.bonds, sizeof(Edge)) +
         bytes(h.atoms * h.atom_columns, sizeof(int16_t)) + bytes(h.bonds * h.bond_columns, sizeof(int16_t)) +
         bytes(h.atoms * h.k, sizeof(double));
}

template <class T>
void append(std::string& bytes, std::span<const T> values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  bytes.resize(aligned(bytes.size()));
}

std::string sha256_of(std::string_view bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.hex();
}

// The manifest without the sum over it. File names are left out of the sum only.
Json to_json(const ShardManifest& m, bool with_files) {
  Json settings = Json::object(), shards = Json::array();
  for (const auto& [key, value] : m.position_settings) settings[key] = value;
  for (const ShardEntry& shard : m.shards) {
    Json entry = Json::object();
    if (with_files) entry["file"] = shard.file;
    entry.update(
        {{"molecules", shard.molecules}, {"atoms", shard.atoms}, {"bonds", shard.bonds}, {"sha256", shard.sha256}});
    shards.push_back(std::move(entry));
  }
  return {{"format", kFormat},
          {"version", kVersion},
          {"featurizer", name_of(m.featurizer)},
          {"position_columns", m.k},
          {"position_settings", settings},
          {"molecules", m.molecules()},
          {"atoms", m.atoms()},
          {"bonds", m.bonds()},
          {"largest_molecule", m.largest},
          {"shards", shards}};
}

std::string sum_of(const ShardManifest& manifest) { return sha256_of(to_json(manifest, false).dump()); }

ShardManifest from_json(const Json& json) {
  ShardManifest m;
  const std::string featurizer = json.at("featurizer").get<std::string>();
  if (featurizer != "ogb" && featurizer != "transfer")
    throw data_error(fmt::format("unknown featurizer '{}'", featurizer));
  m.featurizer = featurizer == "ogb" ? Featurizer::ogb : Featurizer::transfer;
  m.k = json.at("position_columns").get<int64_t>();
  for (const auto& [key, value] : json.at("position_settings").items())
    m.position_settings.emplace_back(key, value.get<std::string>());
  m.largest = json.at("largest_molecule").get<int64_t>();
  for (const Json& shard : json.at("shards")) {
    m.shards.push_back({shard.at("file").get<std::string>(), shard.at("molecules").get<int64_t>(),
                        shard.at("atoms").get<int64_t>(), shard.at("bonds").get<int64_t>(),
                        shard.at("sha256").get<std::string>()});
  }
  m.content_sha256 = json.at("content_sha256").get<std::string>();
  return m;
}

// Numbers that make no sense would become sizes.
bool is_sane(const ShardManifest& m) {
  constexpr int64_t kMost = int64_t{1} << 31, kMostColumns = 100000;
  return m.k >= 0 && m.k <= kMostColumns && !m.shards.empty() &&
         std::all_of(m.shards.begin(), m.shards.end(), [](const ShardEntry& s) {
           return s.molecules > 0 && s.molecules < kMost && s.atoms >= s.molecules && s.atoms < kMost && s.bonds >= 0 &&
                  s.bonds < kMost && s.file.find('/') == std::string::npos;
         });
}

ShardManifest read_manifest(const std::string& path) {
  const std::string text = read_file(path, kLargestManifest);
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kFormat) throw data_error(fmt::format("{}: not a manifest of shards", path));
    if (const int64_t version = json.at("version").get<int64_t>(); version != kVersion) {
      throw data_error(
          fmt::format("{}: version {} of the shard format, this program reads {}", path, version, kVersion));
    }
    ShardManifest manifest = from_json(json);
    if (!is_sane(manifest) || sum_of(manifest) != manifest.content_sha256)
      throw data_error(fmt::format("{}: checksum differs: the file is damaged", path));
    return manifest;
  } catch (const nlohmann::json::exception&) {
    throw data_error(fmt::format("{}: damaged: it is not a manifest of shards", path));
  }
}

template <class Field>
int64_t total(const std::vector<ShardEntry>& shards, Field field) {
  return std::accumulate(shards.begin(), shards.end(), int64_t{0},
                         [&](int64_t sum, const ShardEntry& shard) { return sum + shard.*field; });
}

std::vector<std::string> shard_files(const std::string& directory) {
  std::vector<std::string> names;
  if (!fs::is_directory(directory)) return names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("shard-") && name.ends_with(".bin")) names.push_back(name);
  }
  return names;
}

}  // namespace

int64_t ShardManifest::molecules() const { return total(shards, &ShardEntry::molecules); }
int64_t ShardManifest::atoms() const { return total(shards, &ShardEntry::atoms); }
int64_t ShardManifest::bonds() const { return total(shards, &ShardEntry::bonds); }

const char* name_of(Featurizer featurizer) { return featurizer == Featurizer::ogb ? "ogb" : "transfer"; }

bool is_shard_directory(const std::string& directory) { return fs::is_regular_file(fs::path(directory) / kManifest); }

ShardWriter::ShardWriter(const std::string& directory, bool force, ShardManifest form)
    : directory_(directory), manifest_(std::move(form)), target_(directory, force, shard_files(directory)) {
  manifest_.largest = 0;
  manifest_.shards.clear();
}

void ShardWriter::add(const GraphSetParts& molecules, std::span<const double> positions) {
  ShardEntry entry;
  entry.file = fmt::format("shard-{:05}.bin", manifest_.shards.size());
  entry.molecules = molecules.num_graphs;
  entry.atoms = molecules.node_offsets.back();
  entry.bonds = molecules.edge_offsets.back();
  for (int64_t g = 0; g < entry.molecules; ++g)
    manifest_.largest = std::max(manifest_.largest, molecules.node_offsets[g + 1] - molecules.node_offsets[g]);

  const Header header = header_of(manifest_, entry);
  std::string bytes;
  bytes.reserve(file_size(header));
  bytes.append(reinterpret_cast<const char*>(&header), sizeof(header));
  append<int64_t>(bytes, molecules.node_offsets);
  append<int64_t>(bytes, molecules.edge_offsets);
  append<Edge>(bytes, molecules.edges);
  append<int16_t>(bytes, molecules.node_codes.values);
  append<int16_t>(bytes, molecules.edge_codes.values);
  append<double>(bytes, positions);
  if (bytes.size() != file_size(header))
    throw Error(ErrorKind::internal, "the arrays of a shard do not fit its molecules");
  entry.sha256 = sha256_of(bytes);
  write_file(target_.staging_path() + "/" + entry.file, bytes);
  manifest_.shards.push_back(std::move(entry));
}

ShardManifest ShardWriter::finish() {
  if (manifest_.shards.empty()) throw data_error("there are no molecules to write");
  manifest_.content_sha256 = sum_of(manifest_);
  Json json = to_json(manifest_, true);
  json["content_sha256"] = manifest_.content_sha256;
  write_file(target_.staging_path() + "/" + kManifest, json.dump(1) + "\n");
  // Shards of before and a manifest of now, or the other way round, are never seen together.
  std::error_code ignored;
  fs::remove(fs::path(directory_) / kManifest, ignored);
  target_.commit();
  return manifest_;
}

ShardSet::ShardSet(std::string directory)
    : directory_(std::move(directory)),
      manifest_(read_manifest(directory_ + "/" + kManifest)),
      verified_(manifest_.shards.size(), false) {}

ShardContent ShardSet::read(int64_t shard) const {
  const ShardEntry& entry = manifest_.shards[shard];
  const std::string path = directory_ + "/" + entry.file;
  const Header expected = header_of(manifest_, entry);
  const MappedFile file(path);
  if (file.bytes().size() != file_size(expected)) {
    throw data_error(fmt::format("{}: has {} bytes, expected {}: the file is damaged", path, file.bytes().size(),
                                 file_size(expected)));
  }
  if (!verified_[shard]) {
    const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    if (sha256_of(bytes) != entry.sha256)
      throw data_error(fmt::format("{}: checksum differs: the file is damaged", path));
    verified_[shard] = true;
  }
  Header header;
  std::memcpy(static_cast<void*>(&header), file.bytes().data(), sizeof(header));
  if (!(header == expected)) throw data_error(fmt::format("{}: is not the shard that the manifest names", path));

  // The arrays in their order.
  std::span<const std::byte> rest = file.bytes().subspan(sizeof(Header));
  const auto take = [&]<class T>(int64_t count, std::vector<T>& values) {
    values.resize(static_cast<size_t>(count));
    const size_t size = values.size() * sizeof(T);
    if (size > 0) std::memcpy(values.data(), rest.data(), size);
    rest = rest.subspan(aligned(size));
  };
  GraphSetParts parts;
  std::vector<double> positions;
  parts.num_graphs = header.molecules;
  parts.node_codes.columns = header.atom_columns;
  parts.edge_codes.columns = header.bond_columns;
  take(header.molecules + 1, parts.node_offsets);
  take(header.molecules + 1, parts.edge_offsets);
  take(header.bonds, parts.edges);
  take(header.atoms * header.atom_columns, parts.node_codes.values);
  take(header.bonds * header.bond_columns, parts.edge_codes.values);
  take(header.atoms * header.k, positions);
  return naming(path, [&] { return ShardContent{GraphSet(std::move(parts)), std::move(positions)}; });
}

}  // namespace graphpae
