// ZipArchive: reading and writing .zip files (also ZIP64) through libzip. Declared sizes are checked
// before anything is unpacked, so a zip bomb is an error, not an exhausted machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace graphpae {

class ZipArchive {
 public:
  explicit ZipArchive(const std::string& path);  // throws a data error if it is not a zip file
  ~ZipArchive();

  const std::string& path() const { return path_; }
  std::vector<std::string> names() const;
  bool has(const std::string& name) const;

  // One member, streamed. `read(buffer, size)` fills the buffer as far as the member goes.
  struct Member {
    uint64_t size;  // declared, and no larger than deflate could make from what is stored
    std::function<size_t(char*, size_t)> read;
  };
  Member open(const std::string& name) const;

  // Unpacks everything below `directory`. Names that would leave it are refused.
  void extract_all(const std::string& directory) const;

 private:
  struct State;
  std::string path_;
  std::unique_ptr<State> state_;
};

// Writes a new zip file at `path` (not atomic: give it a staging path).
struct ZipEntry {
  std::string name;
  std::string bytes;
};
void write_zip(const std::string& path, const std::vector<ZipEntry>& entries, bool compress = true);

}  // namespace graphpae
