#include "graphpae/data/molecule_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/sha256.h"

namespace graphpae {
namespace {

// Change it with the codes of a featurizer or with the arrays of the file.
constexpr std::string_view kForm = "graphpae molecules file 1";
constexpr size_t kChecksumSize = 64;
constexpr size_t kLargestFile = size_t{1} << 38;

// A file is its checksum and then arrays, each as width (1 byte), count (8 bytes) and values of that width: the
// narrowest that holds them, which for molecules is nearly always one byte. That makes the file small enough to be
// read faster than it would be unpacked.
class ArrayWriter {
 public:
  // Values are not negative.
  template <class T>
  void add(std::span<const T> values) {
    const uint64_t largest =
        values.empty() ? 0 : static_cast<uint64_t>(*std::max_element(values.begin(), values.end()));
    if (largest <= UINT8_MAX) return append<uint8_t>(values);
    if (largest <= UINT16_MAX) return append<uint16_t>(values);
    if (largest <= UINT32_MAX) return append<uint32_t>(values);
    append<uint64_t>(values);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class Stored, class T>
  void append(std::span<const T> values) {
    const uint64_t count = values.size();
    bytes_ += static_cast<char>(sizeof(Stored));
    bytes_.append(reinterpret_cast<const char*>(&count), sizeof(count));
    const std::vector<Stored> stored(values.begin(), values.end());
    bytes_.append(reinterpret_cast<const char*>(stored.data()), count * sizeof(Stored));
  }
  std::string bytes_;
};

class ArrayReader {
 public:
  explicit ArrayReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  std::vector<T> take() {
    const auto width = static_cast<unsigned char>(take_bytes(1)[0]);
    uint64_t count = 0;
    std::memcpy(&count, take_bytes(sizeof(count)).data(), sizeof(count));
    const std::string_view values = take_bytes(count * width);
    switch (width) {
      case 1: return convert<uint8_t, T>(values);
      case 2: return convert<uint16_t, T>(values);
      case 4: return convert<uint32_t, T>(values);
      case 8: return convert<uint64_t, T>(values);
      default: throw data_error("an array has an unknown width");
    }
  }

 private:
  std::string_view take_bytes(size_t size) {
    if (size > bytes_.size()) throw data_error("an array ends early");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  template <class Stored, class T>
  static std::vector<T> convert(std::string_view bytes) {
    std::vector<T> values(bytes.size() / sizeof(Stored));
    for (size_t i = 0; i < values.size(); ++i) {
      Stored stored;
      std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
      values[i] = static_cast<T>(stored);
    }
    return values;
  }
  std::string_view bytes_;
};

// With the key, so that a file under a wrong name is no better than a damaged one.
std::string checksum(const std::string& key, std::string_view arrays) {
  Sha256 sum;
  sum.update(key);
  sum.update(arrays);
  return sum.hex();
}

std::vector<int64_t> counts_of(const std::vector<int64_t>& offsets) {
  std::vector<int64_t> counts;
  for (size_t i = 1; i < offsets.size(); ++i) counts.push_back(offsets[i] - offsets[i - 1]);
  return counts;
}

std::string write_arrays(const ParsedMolecules& m) {
  static_assert(sizeof(Edge) == 2 * sizeof(int32_t));
  ArrayWriter writer;
  writer.add<int64_t>(counts_of(m.node_offsets));
  writer.add<int64_t>(counts_of(m.edge_offsets));
  writer.add(std::span(reinterpret_cast<const int32_t*>(m.edges.data()), 2 * m.edges.size()));
  writer.add<int64_t>(std::vector<int64_t>{m.node_codes.columns, m.edge_codes.columns});
  writer.add<int16_t>(m.node_codes.values);
  writer.add<int16_t>(m.edge_codes.values);
  std::vector<int64_t> rows, lengths;
  std::string reasons;
  for (const InvalidMolecule& one : m.invalid) {
    rows.push_back(one.row);
    lengths.push_back(static_cast<int64_t>(one.reason.size()));
    reasons += one.reason;
  }
  writer.add<int64_t>(rows);
  writer.add<int64_t>(lengths);
  writer.add(std::span(reinterpret_cast<const uint8_t*>(reasons.data()), reasons.size()));
  return writer.bytes();
}

ParsedMolecules read_arrays(std::string_view bytes) {
  ArrayReader reader(bytes);
  ParsedMolecules m;
  m.node_offsets = offsets_of(reader.take<int64_t>());
  m.edge_offsets = offsets_of(reader.take<int64_t>());
  const std::vector<int32_t> ends = reader.take<int32_t>();
  m.edges.resize(ends.size() / 2);
  for (size_t e = 0; e < m.edges.size(); ++e) m.edges[e] = {ends[2 * e], ends[2 * e + 1]};
  const std::vector<int64_t> columns = reader.take<int64_t>();
  m.node_codes = {columns.at(0), reader.take<int16_t>()};
  m.edge_codes = {columns.at(1), reader.take<int16_t>()};
  const std::vector<int64_t> rows = reader.take<int64_t>(), lengths = reader.take<int64_t>();
  const std::vector<char> reasons = reader.take<char>();
  size_t at = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    m.invalid.push_back({rows[i], std::string(reasons.data() + at, lengths[i])});
    at += lengths[i];
  }
  return m;
}

}  // namespace

std::string molecule_key(const TextColumn& texts, Featurizer featurizer) {
  Sha256 sum;
  sum.update(kForm);
  sum.update(fmt::format(" {} RDKit {}", featurizer == Featurizer::ogb ? "ogb" : "transfer", rdkit_version()));
  for (int64_t row = 0; row < texts.size(); ++row) {
    const uint64_t size = texts[row].size();
    sum.update(&size, sizeof(size));
    sum.update(texts[row]);
  }
  return sum.hex();
}

std::optional<ParsedMolecules> MoleculeCache::find(const std::string& key) const {
  const std::string path = path_of(key);
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    const std::string bytes = read_file(path, kLargestFile);
    const std::string_view arrays = std::string_view(bytes).substr(std::min(bytes.size(), kChecksumSize));
    if (!bytes.starts_with(checksum(key, arrays))) return std::nullopt;
    return read_arrays(arrays);
  } catch (const Error&) {
    return std::nullopt;  // parsed again and written over
  }
}

void MoleculeCache::store(const std::string& key, const ParsedMolecules& molecules) const {
  std::error_code ignored;  // write_file says what is wrong
  std::filesystem::create_directories(directory_, ignored);
  const std::string arrays = write_arrays(molecules);
  write_file(path_of(key), checksum(key, arrays) + arrays);
}

}  // namespace graphpae
