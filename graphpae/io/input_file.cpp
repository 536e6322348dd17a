#include "graphpae/io/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace graphpae {
namespace {

constexpr size_t kBlock = 1 << 18;
constexpr size_t kMaxLine = size_t{1} << 30;

}  // namespace

struct InputFile::Gzip {
  z_stream stream{};
  std::vector<char> input = std::vector<char>(kBlock);
  bool member_ended = false;
  Gzip() { inflateInit2(&stream, 15 + 16); }
  ~Gzip() { inflateEnd(&stream); }
};

InputFile::InputFile(const std::string& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw data_error(fmt::format("{}: {}", path, std::strerror(errno)));
  struct stat info {};
  if (::fstat(descriptor_, &info) == 0 && S_ISDIR(info.st_mode)) {
    ::close(descriptor_);
    throw data_error(fmt::format("{}: is a directory, expected a file", path));
  }
  char head[2];
  const size_t got = read_raw(head, sizeof(head));
  head_.assign(head, got);
  if (head_ == "\x1f\x8b") gzip_ = std::make_unique<Gzip>();
}

InputFile::~InputFile() { ::close(descriptor_); }

size_t InputFile::read_raw(char* buffer, size_t size) {
  size_t filled = head_.copy(buffer, size);
  head_.erase(0, filled);
  while (filled < size) {
    const ssize_t got = ::read(descriptor_, buffer + filled, size - filled);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw data_error(fmt::format("{}: {}", path_, std::strerror(errno)));
    }
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  return filled;
}

size_t InputFile::read_gzip(char* buffer, size_t size) {
  z_stream& stream = gzip_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(buffer);
  stream.avail_out = static_cast<uInt>(size);
  while (stream.avail_out > 0) {
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<uInt>(read_raw(gzip_->input.data(), gzip_->input.size()));
      stream.next_in = reinterpret_cast<Bytef*>(gzip_->input.data());
      if (stream.avail_in == 0) {
        if (!gzip_->member_ended)
          throw data_error(fmt::format("{}: the gzip data end too early (truncated file)", path_));
        break;
      }
    }
    if (gzip_->member_ended) {  // another member, or padding with zeros, may follow
      if (*stream.next_in == 0) {
        ++stream.next_in;
        --stream.avail_in;
        continue;
      }
      inflateReset(&stream);
      gzip_->member_ended = false;
    }
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      gzip_->member_ended = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw data_error(fmt::format("{}: damaged gzip data ({})", path_, stream.msg ? stream.msg : "unknown reason"));
    }
  }
  return size - stream.avail_out;
}

size_t InputFile::read(char* buffer, size_t size) {
  if (!gzip_) return read_raw(buffer, size);
  constexpr size_t kStep = size_t{1} << 30;  // zlib counts in 32 bits
  size_t filled = 0;
  while (filled < size) {
    const size_t got = read_gzip(buffer + filled, std::min(kStep, size - filled));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

LineReader::LineReader(const std::string& path) : file_(path), buffer_(kBlock) {}

bool LineReader::next(std::string_view& line) {
  while (true) {
    const char* start = buffer_.data() + begin_;
    const char* newline = static_cast<const char*>(std::memchr(start, '\n', end_ - begin_));
    if (newline != nullptr || (at_end_ && begin_ < end_)) {
      const size_t length = newline != nullptr ? newline - start : end_ - begin_;
      begin_ += length + (newline != nullptr ? 1 : 0);
      line = std::string_view(start, length);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (++line_number_ == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
      return true;
    }
    if (at_end_) return false;
    std::memmove(buffer_.data(), start, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (end_ == buffer_.size()) {
      if (buffer_.size() >= kMaxLine) {
        ++line_number_;
        throw error("the line is longer than 1 GiB");
      }
      buffer_.resize(buffer_.size() * 2);
    }
    const size_t wanted = buffer_.size() - end_;
    const size_t got = file_.read(buffer_.data() + end_, wanted);
    end_ += got;
    at_end_ = got < wanted;
  }
}

Error LineReader::error(const std::string& message) const {
  return data_error(fmt::format("{}:{}: {}", path(), line_number_, message));
}

std::string read_file(const std::string& path, size_t limit) {
  InputFile file(path);
  std::string text;
  while (true) {
    const size_t old = text.size();
    text.resize(old + kBlock);
    const size_t got = file.read(text.data() + old, kBlock);
    text.resize(old + got);
    if (text.size() > limit) throw data_error(fmt::format("{}: longer than {} bytes", path, limit));
    if (got < kBlock) return text;
  }
}

}  // namespace graphpae
