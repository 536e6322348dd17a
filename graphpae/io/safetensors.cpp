#include "graphpae/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxHeader = 100'000'000;  // as the format's own reader

// Bytes of one value; 0 for an unknown type.
uint64_t item_size(std::string_view type) {
  static constexpr std::pair<std::string_view, uint64_t> kTypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2},
                                                                     {"I64", 8}, {"I32", 4}, {"I16", 2}, {"I8", 1},
                                                                     {"U8", 1},  {"BOOL", 1}};
  for (const auto& [name, size] : kTypes) {
    if (name == type) return size;
  }
  return 0;
}

}  // namespace

SafeTensors::SafeTensors(const std::string& path) : path_(path) {
  InputFile file(path);
  constexpr size_t kStep = size_t{1} << 22;
  size_t size = 0;
  for (size_t got = kStep; got == kStep; size += got) {
    if (bytes_.capacity() < size + kStep) bytes_.reserve(2 * (size + kStep));
    bytes_.resize(size + kStep);
    got = file.read(bytes_.data() + size, kStep);
  }
  bytes_.resize(size);
  parse();
}

void SafeTensors::parse() {
  const auto bad = [&](const std::string& what) { return data_error(fmt::format("{}: {}", path_, what)); };
  uint64_t header_size = 0;
  if (bytes_.size() < sizeof(header_size)) throw bad("not a safetensors file: too short");
  std::memcpy(&header_size, bytes_.data(), sizeof(header_size));
  if (header_size > kMaxHeader || header_size > bytes_.size() - sizeof(header_size))
    throw bad(fmt::format("not a safetensors file, or cut off: header of {} bytes", header_size));
  data_start_ = sizeof(header_size) + header_size;
  const char* text = bytes_.data() + sizeof(header_size);
  const Json header = Json::parse(text, text + header_size, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) throw bad("not a safetensors file: its header is not a JSON object");

  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) throw bad(fmt::format("metadata '{}' is not text", key));
        metadata_[key] = value.get<std::string>();
      }
      continue;
    }
    const auto is_count = [](const Json& value) { return value.is_number_unsigned(); };
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") ||
        !entry["shape"].is_array() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
        entry["data_offsets"].size() != 2 || !std::all_of(entry["shape"].begin(), entry["shape"].end(), is_count) ||
        !std::all_of(entry["data_offsets"].begin(), entry["data_offsets"].end(), is_count)) {
      throw bad(fmt::format("tensor '{}': dtype, shape and data_offsets expected", name));
    }
    SafeTensorView tensor{name, entry["dtype"].get<std::string>(), {}, {}};
    uint64_t size = item_size(tensor.type);
    if (size == 0) throw bad(fmt::format("tensor '{}': unknown type {}", name, tensor.type));
    const uint64_t begin = entry["data_offsets"][0].get<uint64_t>(), end = entry["data_offsets"][1].get<uint64_t>();
    for (const Json& value : entry["shape"]) {
      const uint64_t length = value.get<uint64_t>();
      if (__builtin_mul_overflow(size, length, &size) || length > uint64_t{1} << 62)
        throw bad(fmt::format("tensor '{}': its shape is too large", name));
      tensor.shape.push_back(static_cast<int64_t>(length));
    }
    if (begin > end || end > bytes_.size() - data_start_ || end - begin != size) {
      throw bad(fmt::format("tensor '{}': bytes {}..{} of {} do not hold its {} bytes", name, begin, end,
                            bytes_.size() - data_start_, size));
    }
    tensor.bytes = {bytes_.data() + data_start_ + begin, static_cast<size_t>(size)};
    if (size > 0) places.emplace_back(begin, end);
    if (!tensors_.emplace(name, std::move(tensor)).second) throw bad(fmt::format("tensor '{}' is there twice", name));
  }
  std::sort(places.begin(), places.end());
  for (size_t k = 1; k < places.size(); ++k) {
    if (places[k].first < places[k - 1].second) throw bad("tensors overlap");
  }
}

const SafeTensorView& SafeTensors::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw data_error(fmt::format("{}: tensor '{}' is missing", path_, name));
  return found->second;
}

const std::string& SafeTensors::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) throw data_error(fmt::format("{}: metadata '{}' is missing", path_, key));
  return found->second;
}

void write_safetensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                       const std::vector<SafeTensorView>& tensors) {
  Json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  uint64_t place = 0;
  for (const SafeTensorView& tensor : tensors) {
    header[tensor.name] = {
        {"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {place, place + tensor.bytes.size()}}};
    place += tensor.bytes.size();
  }
  std::string text = header.is_null() ? "{}" : header.dump();
  constexpr size_t kAlignment = 64;
  const size_t used = sizeof(uint64_t) + text.size();
  text.append((used + kAlignment - 1) / kAlignment * kAlignment - used, ' ');

  const uint64_t header_size = text.size();
  std::vector<std::string_view> pieces = {{reinterpret_cast<const char*>(&header_size), sizeof(header_size)}, text};
  for (const SafeTensorView& tensor : tensors) pieces.emplace_back(tensor.bytes.data(), tensor.bytes.size());
  write_file(path, pieces);
}

}  // namespace graphpae
