// Outputs that are either complete or absent: written under a temporary name beside their place, synced
// and renamed. Destroyed before commit(), they leave nothing behind.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphpae {

class AtomicOutput {
 public:
  AtomicOutput(const AtomicOutput&) = delete;
  AtomicOutput& operator=(const AtomicOutput&) = delete;

  const std::string& staging_path() const { return staging_path_; }  // write here

 protected:
  explicit AtomicOutput(const std::string& path);
  ~AtomicOutput();

  std::string path_, staging_path_;
  bool committed_ = false;
};

class AtomicFile : public AtomicOutput {
 public:
  explicit AtomicFile(const std::string& path);
  void commit();  // sync, then rename over `path`
};

// The text with temporary names of this process replaced by those that the files would have got.
std::string with_final_names(std::string text);

// Removes the temporary names of all outputs under way in this process: for a program about to be stopped.
void remove_unfinished_outputs();

// Writes `bytes` to `path` atomically. Throws a data error naming the path and the reason.
void write_file(const std::string& path, std::string_view bytes);
void write_file(const std::string& path, std::span<const std::string_view> pieces);  // one after the other

// Bytes packed as a gzip file. The header carries no time, so equal content gives equal bytes.
std::string gzip_bytes(std::string_view bytes);

// A new directory. An existing, non-empty one is refused with a usage error unless `force`; then its
// files of the same names are replaced, and those in `owned` that the new content lacks are removed.
class AtomicDirectory : public AtomicOutput {
 public:
  AtomicDirectory(const std::string& path, bool force, std::vector<std::string> owned);
  void commit();

 private:
  std::vector<std::string> owned_;
};

}  // namespace graphpae
