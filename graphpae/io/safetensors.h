// The safetensors format: a JSON header with names, types, shapes and places, then the bytes of all tensors. It holds
// numbers only and can be read by the Python package of the same name.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphpae/core/buffer.h"

namespace graphpae {

// The bytes are those of the caller that writes the tensor, or of the file it was read from.
struct SafeTensorView {
  std::string name;
  std::string type;  // F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL
  std::vector<int64_t> shape;
  std::span<const char> bytes;  // C order, little endian
};

// A file read whole. Any bytes give a valid object or a data error naming the file.
class SafeTensors {
 public:
  explicit SafeTensors(const std::string& path);

  const std::map<std::string, SafeTensorView>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const SafeTensorView& find(const std::string& name) const;  // throws a data error
  const std::string& metadata(const std::string& key) const;  // throws a data error
  std::span<const char> data() const { return {bytes_.data() + data_start_, bytes_.size() - data_start_}; }
  const std::string& path() const { return path_; }

 private:
  void parse();

  std::string path_;
  Buffer<char> bytes_;
  size_t data_start_ = 0;
  std::map<std::string, SafeTensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

// Written completely or not at all. Tensors are stored in the order given, the data start at a multiple of 64 bytes.
void write_safetensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                       const std::vector<SafeTensorView>& tensors);

}  // namespace graphpae
