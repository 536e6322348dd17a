// InputFile: a plain or gzip file as a stream of bytes. LineReader: the same as lines.
// Gzip is recognised by its first bytes, not by the name. All failures are data errors naming the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graphpae/core/error.h"

namespace graphpae {

class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Fills `buffer` as far as the file goes; fewer than `size` bytes only at the end.
  size_t read(char* buffer, size_t size);

  const std::string& path() const { return path_; }
  bool is_gzip() const { return gzip_ != nullptr; }

 private:
  struct Gzip;
  size_t read_raw(char* buffer, size_t size);
  size_t read_gzip(char* buffer, size_t size);

  std::string path_;
  int descriptor_ = -1;
  std::string head_;  // first bytes, read to recognise gzip and not yet handed out
  std::unique_ptr<Gzip> gzip_;
};

class LineReader {
 public:
  explicit LineReader(const std::string& path);

  // The next line without its end (\n or \r\n); false at the end of the file. The view is valid until
  // the next call. A byte order mark at the start is skipped.
  bool next(std::string_view& line);

  int64_t line_number() const { return line_number_; }  // of the last line, from 1
  const std::string& path() const { return file_.path(); }

  // "path:line: message"
  Error error(const std::string& message) const;

 private:
  InputFile file_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool at_end_ = false;
  int64_t line_number_ = 0;
};

// The whole file. Throws a data error if it is longer than `limit` bytes.
std::string read_file(const std::string& path, size_t limit = size_t{1} << 32);

}  // namespace graphpae
