#include "graphpae/data/edge_list.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "graphpae/core/error.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr int64_t kBlockBytes = int64_t{1} << 22;
constexpr int64_t kPadding = 16;  // readable bytes behind a block, for parsing eight digits at once

bool is_comment(std::string_view line) {
  return line.empty() || line[0] == '#' || line[0] == '%' || line.starts_with("//");
}

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
    const bool fast = layout_.columns == 2 && layout_.delimiter != ' ';
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
      block.failure = parse_line(std::string_view(at, stop - at), block.edges);
      if (!block.failure.empty()) break;
      at = stop + 1;
    }
    return block;
  }

 private:
  // Any line at all; returns what is wrong with it, or "".
  std::string parse_line(std::string_view line, Buffer<Edge>& edges) const {
    line = trim(line);
    if (is_comment(line)) return "";
    std::array<int64_t, 2> ids{};
    int column = 0;
    for (bool more = true; more; ++column) {
      const size_t end = layout_.delimiter == ' ' ? line.find_first_of(" \t") : line.find(layout_.delimiter);
      const std::string_view field = trim(line.substr(0, end));
      more = end != std::string_view::npos;
      if (more) line.remove_prefix(end + 1);
      if (layout_.delimiter == ' ') line = trim(line);
      if (column >= 2) continue;
      const auto id = parse_int(field);
      if (!id) return fmt::format("'{}' is not a node number", field.substr(0, 40));
      if (*id < layout_.base) return fmt::format("node number {} is below {}", *id, layout_.base);
      if (*id - layout_.base >= limit_) {
        return layout_.num_nodes >= 0
                   ? fmt::format("node {} is outside {}..{}", *id, layout_.base, layout_.base + limit_ - 1)
                   : fmt::format("node number {} is above the largest possible, {}", *id, limit_ - 1);
      }
      ids[column] = *id - layout_.base;
    }
    if (column != layout_.columns) return fmt::format("{} columns, expected {}", column, layout_.columns);
    edges.push_back({static_cast<int32_t>(ids[0]), static_cast<int32_t>(ids[1])});
    return "";
  }

  const EdgeLines& layout_;
  int64_t limit_;
};

// Joins parsed blocks; `first_line` is the number of the first line of the first block.
EdgeBlocks join(const std::string& path, std::vector<ParsedBlock> parsed, int64_t first_line) {
  EdgeBlocks blocks;
  for (ParsedBlock& block : parsed) {
    if (!block.failure.empty()) {
      throw data_error(fmt::format("{}:{}: {}", path, first_line + block.lines - 1, block.failure));
    }
    first_line += block.lines;
    if (!block.edges.empty()) blocks.push_back(std::move(block.edges));
  }
  return blocks;
}

EdgeBlocks read_streamed(InputFile& file, const EdgeLines& layout) {
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
EdgeBlocks read_parallel(const std::string& path, const EdgeLines& layout, int64_t start, int64_t size,
                         Threads threads) {
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

struct Layout {
  EdgeLines lines;
  bool numeric = true;
  bool has_edges = false;
  std::vector<std::string> header;
};

bool is_header_word(const std::string& word) {
  static constexpr std::string_view kWords[] = {"src",  "source", "from",  "node1", "node_1",  "id1",
                                                "id_1", "head",   "start", "node",  "node_id", "subject"};
  return std::find(std::begin(kWords), std::end(kWords), lower(word)) != std::end(kWords);
}

Layout sniff_layout(const std::string& path, NodeIds ids) {
  LineReader reader(path);
  Layout layout;
  std::vector<std::string> fields;
  std::string_view line;
  while (reader.next(line)) {
    line = trim(line);
    if (is_comment(line)) continue;
    if (!layout.has_edges && layout.header.empty()) layout.lines.delimiter = sniff_delimiter(line);
    if (!split_fields(line, layout.lines.delimiter, fields)) throw reader.error("a quote is not closed");
    if (fields.size() < 2) {
      throw reader.error(fmt::format("'{}' is not an edge: two columns are expected", line.substr(0, 40)));
    }
    const bool numeric = parse_int(fields[0]) && parse_int(fields[1]);
    if (!numeric && layout.header.empty() && (is_header_word(fields[0]) || ids == NodeIds::numbers)) {
      layout.header = fields;
      continue;
    }
    // A first line of words above a line of numbers is a header, whatever its words.
    if (!numeric && layout.header.empty() && ids == NodeIds::automatic) {
      const int64_t words_line = reader.line_number();
      const std::vector<std::string> words = fields;
      std::string_view next;
      while (reader.next(next) && is_comment(trim(next))) {
      }
      std::vector<std::string> next_fields;
      if (split_fields(trim(next), layout.lines.delimiter, next_fields) && next_fields.size() >= 2 &&
          parse_int(next_fields[0]) && parse_int(next_fields[1])) {
        layout.header = words;
        fields = next_fields;
        layout.lines.first_line = reader.line_number();
      } else {
        layout.numeric = false;
        layout.lines.first_line = words_line;
      }
    } else {
      layout.numeric = numeric;
      layout.lines.first_line = reader.line_number();
    }
    layout.has_edges = true;
    layout.lines.columns = static_cast<int>(fields.size());
    break;
  }
  if (ids == NodeIds::names) layout.numeric = false;
  return layout;
}

EdgeList read_named(const std::string& path, const Layout& layout) {
  EdgeList list;
  std::unordered_map<std::string, int32_t> numbers;
  const auto number_of = [&](const std::string& name) {
    const auto [place, is_new] = numbers.try_emplace(name, static_cast<int32_t>(list.names.size()));
    if (is_new) list.names.push_back(name);
    return place->second;
  };
  LineReader reader(path);
  std::string_view line;
  std::vector<std::string> fields;
  list.blocks.emplace_back();
  while (reader.next(line)) {
    if (reader.line_number() < layout.lines.first_line) continue;
    line = trim(line);
    if (is_comment(line)) continue;
    if (!split_fields(line, layout.lines.delimiter, fields)) throw reader.error("a quote is not closed");
    if (static_cast<int>(fields.size()) != layout.lines.columns) {
      throw reader.error(fmt::format("{} columns, expected {}", fields.size(), layout.lines.columns));
    }
    for (std::string& field : fields) field = std::string(trim(field));
    if (fields[0].empty() || fields[1].empty()) throw reader.error("a node name is empty");
    const int32_t src = number_of(fields[0]);
    list.blocks.back().push_back({src, number_of(fields[1])});
  }
  list.num_nodes = list.names.size();
  return list;
}

}  // namespace

int64_t nodes_in(const EdgeBlocks& blocks) {
  int32_t largest = -1;
  for (const auto& block : blocks) {
    for (const Edge& edge : block) largest = std::max({largest, edge.src, edge.dst});
  }
  return int64_t{largest} + 1;
}

EdgeBlocks read_edge_lines(const std::string& path, const EdgeLines& layout, Threads threads) {
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

EdgeList read_edge_list(const std::string& path, const EdgeListOptions& options) {
  Layout layout = sniff_layout(path, options.ids);
  EdgeList list;
  if (layout.has_edges && layout.numeric) {
    layout.lines.num_nodes = options.num_nodes;
    list.blocks = read_edge_lines(path, layout.lines, options.threads);
    list.num_nodes = std::max(nodes_in(list.blocks), options.num_nodes);
    const int64_t edges = count_edges(list.blocks);
    if (options.num_nodes < 0 && list.num_nodes > 64 * edges + 1'000'000) {
      throw data_error(fmt::format("{}: node number {} is too large for {} edges (if ids are names, say --ids names)",
                                   path, list.num_nodes - 1, edges));
    }
  } else if (layout.has_edges) {
    list = read_named(path, layout);
  } else {
    list.num_nodes = std::max<int64_t>(0, options.num_nodes);
  }
  if (layout.lines.columns > 2) {
    list.notes.push_back(
        fmt::format("{}: columns after the second are ignored ({} columns)", path, layout.lines.columns));
  }
  return list;
}

}  // namespace graphpae
