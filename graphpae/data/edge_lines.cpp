#include "graphpae/data/edge_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr int64_t kBlockBytes = int64_t{1} << 22;
constexpr int64_t kPadding = 16;  // readable bytes behind a block, for parsing eight digits at once

// The number made of the digits at `at` (at most 8 of them), which then points behind them. Eight bytes
// are treated as one word: no branch depends on how many digits there are.
uint32_t parse_digits(const char*& at) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word;
  std::memcpy(&word, at, 8);
  word ^= 0x3030303030303030;  // digits become 0..9
  // A byte is no digit if it is 128 or more, or reaches 128 when 118 is added. A carry can only disturb
  // bytes behind the first such one.
  const uint64_t others = (word | (word + 0x7676767676767676)) & 0x8080808080808080;
  const int digits = others == 0 ? 8 : std::countr_zero(others) / 8;
  at += digits;
  if (digits == 0) return 0;
  word <<= 64 - 8 * digits;  // the first byte in memory is the leading digit: put zeros before it
  // Add neighbours pairwise: 8 digits, 4 pairs below 100, 2 groups below 10^4, one number.
  word = (word & 0x00ff00ff00ff00ff) * 10 + (word >> 8 & 0x00ff00ff00ff00ff);
  word = (word & 0x0000ffff0000ffff) * 100 + (word >> 16 & 0x0000ffff0000ffff);
  return static_cast<uint32_t>((word & 0xffffffff) * 10000 + (word >> 32));
}

struct ParsedBlock {
  Buffer<Edge> edges;
  Buffer<float> weights;  // if there is a column of them
  int64_t lines = 0;
  std::string failure;  // with `lines` the line it is in, counted inside the block from 1
};

class BlockParser {
 public:
  explicit BlockParser(const EdgeLines& layout) : layout_(layout) {
    limit_ = layout.num_nodes >= 0 ? layout.num_nodes : kMaxNodes;
  }

  // Parses whole lines in [begin, end); kPadding bytes behind `end` are readable.
  ParsedBlock parse(const char* begin, const char* end) const {
    ParsedBlock block;
    block.edges.reserve(std::count(begin, end, '\n') + 1);
    const bool fast = layout_.columns == 2 && layout_.delimiter != ' ' && layout_.source == 0 && layout_.target == 1;
    for (const char* at = begin; at < end;) {
      ++block.lines;
      if (fast) {
        const char* stop = at;
        const int64_t src = int64_t{parse_digits(stop)} - layout_.base;
        const char* second = stop + 1;
        const char* tail = second;
        const int64_t dst = int64_t{parse_digits(tail)} - layout_.base;
        if (*stop == layout_.delimiter && *tail == '\n' && stop != at && tail != second && tail < end &&
            static_cast<uint64_t>(src) < static_cast<uint64_t>(limit_) &&
            static_cast<uint64_t>(dst) < static_cast<uint64_t>(limit_)) {
          block.edges.push_back({static_cast<int32_t>(src), static_cast<int32_t>(dst)});
          at = tail + 1;
          continue;
        }
      }
      const char* newline = static_cast<const char*>(std::memchr(at, '\n', end - at));
      const char* stop = newline != nullptr ? newline : end;
      block.failure = parse_line(std::string_view(at, stop - at), block);
      if (!block.failure.empty()) break;
      at = stop + 1;
    }
    return block;
  }

 private:
  // Any line at all; returns what is wrong with it, or "".
  std::string parse_line(std::string_view line, ParsedBlock& block) const {
    line = trim(line);
    if (is_comment_line(line)) return "";
    if (line.find('"') != std::string_view::npos) return parse_quoted(line, block);
    std::array<std::string_view, 3> wanted;
    int column = 0;
    for (bool more = true; more; ++column) {
      const size_t end = layout_.delimiter == ' ' ? line.find_first_of(" \t") : line.find(layout_.delimiter);
      const std::string_view field = trim(line.substr(0, end));
      more = end != std::string_view::npos;
      if (more) line.remove_prefix(end + 1);
      if (layout_.delimiter == ' ') line = trim(line);
      keep(column, field, wanted);
    }
    return parse_fields(column, wanted, block);
  }

  std::string parse_quoted(std::string_view line, ParsedBlock& block) const {
    std::vector<std::string> fields;
    if (!split_fields(line, layout_.delimiter, fields)) return "a quote is not closed";
    std::array<std::string_view, 3> wanted;
    for (size_t c = 0; c < fields.size(); ++c) keep(static_cast<int>(c), trim(fields[c]), wanted);
    return parse_fields(static_cast<int>(fields.size()), wanted, block);
  }

  void keep(int column, std::string_view field, std::array<std::string_view, 3>& wanted) const {
    if (column == layout_.source) wanted[0] = field;
    if (column == layout_.target) wanted[1] = field;
    if (column == layout_.weight) wanted[2] = field;
  }

  // Of source, target and weight.
  std::string parse_fields(int columns, const std::array<std::string_view, 3>& fields, ParsedBlock& block) const {
    std::array<int64_t, 2> ids{};
    for (size_t end = 0; end < ids.size(); ++end) {
      if (columns <= std::max(layout_.source, layout_.target)) break;  // a short line, said below
      const auto id = parse_int(fields[end]);
      if (!id) return fmt::format("'{}' is not a node number", fields[end].substr(0, 40));
      if (*id < layout_.base) return fmt::format("node number {} is below {}", *id, layout_.base);
      if (*id - layout_.base >= limit_) {
        return layout_.num_nodes >= 0
                   ? fmt::format("node {} is outside {}..{}", *id, layout_.base, layout_.base + limit_ - 1)
                   : fmt::format("node number {} is above the largest possible, {}", *id, limit_ - 1);
      }
      ids[end] = *id - layout_.base;
    }
    if (columns != layout_.columns) return fmt::format("{} columns, expected {}", columns, layout_.columns);
    if (layout_.weight >= 0) {
      const auto weight = parse_real(fields[2]);
      if (!weight || !std::isfinite(static_cast<float>(*weight)))
        return fmt::format("the weight '{}' is not a finite number", fields[2].substr(0, 40));
      block.weights.push_back(static_cast<float>(*weight));
    }
    block.edges.push_back({static_cast<int32_t>(ids[0]), static_cast<int32_t>(ids[1])});
    return "";
  }

  const EdgeLines& layout_;
  int64_t limit_;
};

// Joins parsed blocks; `first_line` is the number of the first line of the first block.
EdgeRows join(const std::string& path, std::vector<ParsedBlock> parsed, int64_t first_line) {
  EdgeRows rows;
  for (ParsedBlock& block : parsed) {
    if (!block.failure.empty()) {
      throw data_error(fmt::format("{}:{}: {}", path, first_line + block.lines - 1, block.failure));
    }
    first_line += block.lines;
    if (!block.weights.empty()) rows.weights.push_back(std::move(block.weights));
    if (!block.edges.empty()) rows.edges.push_back(std::move(block.edges));
  }
  return rows;
}

EdgeRows read_streamed(InputFile& file, const EdgeLines& layout) {
  const BlockParser parser(layout);
  std::vector<ParsedBlock> parsed;
  std::vector<char> text(kBlockBytes + kPadding);
  size_t filled = 0;
  int64_t to_skip = layout.first_line - 1;
  while (true) {
    const size_t room = text.size() - kPadding - filled;
    const size_t got = file.read(text.data() + filled, room);
    filled += got;
    const bool at_end = got < room;
    size_t whole = filled;  // whole lines only, unless nothing more comes
    while (!at_end && whole > 0 && text[whole - 1] != '\n') --whole;

    const char* begin = text.data();
    const char* end = begin + whole;
    for (; to_skip > 0 && begin < end; --to_skip) {
      const char* newline = static_cast<const char*>(std::memchr(begin, '\n', end - begin));
      begin = newline == nullptr ? end : newline + 1;
    }
    if (begin < end) parsed.push_back(parser.parse(begin, end));
    if (at_end || (!parsed.empty() && !parsed.back().failure.empty())) break;

    filled -= whole;
    std::memmove(text.data(), text.data() + whole, filled);
    if (whole == 0) text.resize(2 * text.size());  // a very long line
  }
  return join(file.path(), std::move(parsed), layout.first_line);
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : path_(path), number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) throw data_error(fmt::format("{}: {}", path_, std::strerror(errno)));
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  // Appends the bytes [from, to) of the file to `text`, as far as they exist.
  void append(std::vector<char>& text, int64_t from, int64_t to) const {
    size_t filled = text.size();
    text.resize(filled + (to - from));
    while (from < to) {
      const ssize_t got = ::pread(number_, text.data() + filled, to - from, from);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw data_error(fmt::format("{}: {}", path_, std::strerror(errno)));
      if (got == 0) break;
      filled += got;
      from += got;
    }
    text.resize(filled);
  }

 private:
  const std::string& path_;
  int number_;
};

// Bytes [start, size) of a plain file. A block owns the lines that start inside it.
EdgeRows read_parallel(const std::string& path, const EdgeLines& layout, int64_t start, int64_t size, Threads threads) {
  const BlockParser parser(layout);
  const Descriptor file(path);
  const int64_t num_blocks = (size - start + kBlockBytes - 1) / kBlockBytes;
  std::vector<ParsedBlock> parsed(num_blocks);
  parallel_tasks(threads, num_blocks, [&](int64_t index) {
    const int64_t from = start + index * kBlockBytes, to = std::min(size, from + kBlockBytes);
    const int64_t lead = index == 0 ? 0 : 1;  // the byte before tells whether a line starts at `from`
    thread_local std::vector<char> text;
    text.clear();
    file.append(text, from - lead, to);
    const char* newline = nullptr;
    if (lead == 1) {
      newline = static_cast<const char*>(std::memchr(text.data(), '\n', text.size() - 1));
      if (newline == nullptr) return;  // the middle of a very long line
    }
    const size_t begin = newline == nullptr ? 0 : newline + 1 - text.data();

    constexpr int64_t kStep = 4096;  // the last line may end behind the block
    for (int64_t next = to; next < size && text.back() != '\n'; next += kStep) {
      const size_t old = text.size();
      file.append(text, next, std::min(size, next + kStep));
      const void* end = std::memchr(text.data() + old, '\n', text.size() - old);
      if (end != nullptr) text.resize(static_cast<const char*>(end) + 1 - text.data());
    }
    const size_t length = text.size();
    text.resize(length + kPadding);
    parsed[index] = parser.parse(text.data() + begin, text.data() + length);
  });
  return join(path, std::move(parsed), layout.first_line);
}

}  // namespace

bool is_comment_line(std::string_view line) {
  return line.empty() || line[0] == '#' || line[0] == '%' || line.starts_with("//");
}

int64_t nodes_in(const EdgeBlocks& blocks) {
  int32_t largest = -1;
  for (const auto& block : blocks) {
    for (const Edge& edge : block) largest = std::max({largest, edge.src, edge.dst});
  }
  return int64_t{largest} + 1;
}

EdgeRows read_edge_rows(const std::string& path, const EdgeLines& layout, Threads threads) {
  InputFile file(path);
  struct stat info {};
  const bool is_plain = !file.is_gzip() && ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  if (!is_plain) return read_streamed(file, layout);
  // Where the first line of edges starts, in bytes.
  int64_t start = 0;
  std::vector<char> bytes(4096);
  for (int64_t lines = 1; lines < layout.first_line;) {
    const size_t got = file.read(bytes.data(), bytes.size());
    if (got == 0) break;
    for (size_t i = 0; i < got && lines < layout.first_line; ++i) {
      ++start;
      if (bytes[i] == '\n') ++lines;
    }
  }
  return read_parallel(path, layout, start, info.st_size, threads);
}

EdgeBlocks read_edge_lines(const std::string& path, const EdgeLines& layout, Threads threads) {
  return read_edge_rows(path, layout, threads).edges;
}

}  // namespace graphpae
