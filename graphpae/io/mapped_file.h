// MappedFile: a whole file as read-only memory. Pages are read when they are touched.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace graphpae {

class MappedFile {
 public:
  // Throws a data error naming the file and the reason.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace graphpae
