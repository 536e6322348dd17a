#include "graphpae/io/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include "graphpae/core/error.h"
#include "graphpae/io/input_file.h"

namespace graphpae {
namespace {

using ReadBytes = std::function<size_t(char*, size_t)>;

Error bad_npy(const std::string& name, const std::string& reason) {
  return data_error(fmt::format("{}: not a readable NumPy array: {}", name, reason));
}

// The header of an array, a Python dictionary such as
//   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
struct NpyHeader {
  NpyArray array;        // without its values
  std::string type;      // as it is written
  bool swapped = false;  // bytes are in the other order than those of this machine
  bool fortran = false;
};

class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  // Throws a data error that names the array if the header is damaged or its values are neither numbers nor text.
  NpyHeader parse() {
    NpyHeader header{{name_, {}, 'f', 0, {}}, ""};
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        if (peek() == '[') throw bad("it is a structured array, which is not supported");
        header.type = quoted();
        has_type = true;
      } else if (key == "fortran_order") {
        header.fortran = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.array.shape = tuple();
        has_shape = true;
      } else {
        throw bad(fmt::format("unknown header key '{}'", key));
      }
      accept(',');
    }
    if (!has_type || !has_order || !has_shape) throw bad("the header lacks descr, fortran_order or shape");
    parse_type(header);
    return header;
  }

 private:
  Error bad(const std::string& reason) const { return bad_npy(name_, reason); }
  char peek() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_.front();
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) throw bad("the header is damaged");
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') throw bad("the header is damaged");
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) throw bad("the header is damaged");
    const std::string result(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return result;
  }
  bool boolean() {
    peek();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return value;
      }
    }
    throw bad("fortran_order is neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      int64_t value = 0;
      int digits = 0;
      for (peek(); !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; text_.remove_prefix(1)) {
        value = value * 10 + (text_.front() - '0');
        if (++digits > 18) throw bad("the shape is too large");
      }
      if (digits == 0) throw bad("the shape is damaged");
      values.push_back(value);
      accept('L');
      accept(',');
    }
    return values;
  }
  void parse_type(NpyHeader& header) const {
    const std::string& text = header.type;
    NpyArray& array = header.array;
    if (text.find('O') != std::string::npos) {
      throw bad(
          "it holds Python objects (a pickle), which can run code when loaded and are refused; "
          "save it as a numeric array");
    }
    const bool has_order = !text.empty() && (text[0] == '<' || text[0] == '>' || text[0] == '|' || text[0] == '=');
    const std::string rest = has_order ? text.substr(1) : text;
    array.kind = rest.empty() || rest[0] == '?' ? 'b' : rest[0];
    for (size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] < '0' || rest[i] > '9' || i > 9) throw bad(fmt::format("unknown type '{}'", text));
      array.item_size = array.item_size * 10 + (rest[i] - '0');
    }
    header.swapped = has_order && text[0] == (std::endian::native == std::endian::little ? '>' : '<');
    const auto one_of = [&](std::initializer_list<int64_t> sizes) {
      return std::find(sizes.begin(), sizes.end(), array.item_size) != sizes.end();
    };
    bool known = false;
    switch (array.kind) {
      case 'b': known = one_of({1}); break;
      case 'i':
      case 'u': known = one_of({1, 2, 4, 8}); break;
      case 'f': known = one_of({2, 4, 8}) || array.item_size == sizeof(long double); break;
      case 'S': known = true; break;
      case 'U':
        known = true;
        array.item_size *= 4;
        break;
      default: break;
    }
    if (!known) throw bad(fmt::format("values of type '{}' are not numbers", text));
  }

  const std::string& name_;
  std::string_view text_;
};

// Fortran order to C order: the index of C position p, counted in Fortran order.
void to_c_order(NpyArray& array) {
  if (array.shape.size() < 2) return;
  Buffer<char> ordered(array.bytes.size());
  const size_t dimensions = array.shape.size();
  std::vector<int64_t> stride(dimensions), index(dimensions, 0);
  int64_t step = 1;
  for (size_t d = 0; d < dimensions; ++d) {
    stride[d] = step;
    step *= array.shape[d];
  }
  int64_t from = 0;
  const int64_t count = array.count();
  for (int64_t to = 0; to < count; ++to) {
    std::memcpy(ordered.data() + to * array.item_size, array.bytes.data() + from * array.item_size, array.item_size);
    for (size_t d = dimensions; d-- > 0;) {
      from += stride[d];
      if (++index[d] < array.shape[d]) break;
      from -= stride[d] * array.shape[d];
      index[d] = 0;
    }
  }
  array.bytes = std::move(ordered);
}

NpyArray parse_npy(const std::string& name, uint64_t total_size, const ReadBytes& read) {
  const auto fail = [&](const std::string& reason) { return bad_npy(name, reason); };
  unsigned char head[12];
  if (read(reinterpret_cast<char*>(head), 10) != 10 || std::memcmp(head, "\x93NUMPY", 6) != 0) {
    throw fail("it does not start with the NumPy mark");
  }
  const int version = head[6];
  if (version < 1 || version > 3) throw fail(fmt::format("unknown version {}", version));
  uint64_t start = 10;
  uint64_t header_size = head[8] | head[9] << 8;
  if (version >= 2) {
    if (read(reinterpret_cast<char*>(head) + 10, 2) != 2) throw fail("the file ends in the header");
    header_size |= uint64_t{head[10]} << 16 | uint64_t{head[11]} << 24;
    start = 12;
  }
  if (header_size > (1 << 20)) throw fail("the header is too long");
  std::string header_text(header_size, '\0');
  if (read(header_text.data(), header_size) != header_size) throw fail("the file ends in the header");
  NpyHeader header = HeaderParser(name, header_text).parse();
  NpyArray& array = header.array;

  uint64_t size = static_cast<uint64_t>(array.item_size);
  for (const int64_t extent : array.shape) {
    if (extent != 0 && size > (uint64_t{1} << 60) / static_cast<uint64_t>(extent)) throw fail("the shape is too large");
    size *= static_cast<uint64_t>(extent);
  }
  if (total_size != start + header_size + size) {
    throw fail(fmt::format("shape ({}) of '{}' needs {} bytes, but {} are there", fmt::join(array.shape, ", "),
                           header.type, size, total_size - std::min(total_size, start + header_size)));
  }
  array.bytes.resize(size);
  char beyond;  // reading to the very end makes libzip compare its checksum
  if (read(array.bytes.data(), size) != size || read(&beyond, 1) != 0) throw fail("the data end too early");
  if (header.swapped) {
    const int64_t item = array.kind == 'U' ? 4 : array.item_size;
    for (char* value = array.bytes.data(); value != array.bytes.data() + size && array.kind != 'S'; value += item) {
      std::reverse(value, value + item);
    }
  }
  if (header.fortran) to_c_order(array);
  return std::move(array);
}

float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 0x1f, fraction = half & 0x3ffu;
  if (exponent == 0) {  // zero and denormals: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 31 ? 0xffu : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

// Calls f(position, value) with each value in its own type.
template <class T, class F>
void visit_as(const NpyArray& array, const F& f) {
  const int64_t count = array.count();
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, array.bytes.data() + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    f(i, value);
  }
}

template <class F>
void visit(const NpyArray& array, const F& f) {
  switch (array.kind * 256 + array.item_size) {
    case 'b' * 256 + 1: return visit_as<uint8_t>(array, [&](int64_t i, uint8_t v) { f(i, v != 0 ? 1 : 0); });
    case 'i' * 256 + 1: return visit_as<int8_t>(array, f);
    case 'i' * 256 + 2: return visit_as<int16_t>(array, f);
    case 'i' * 256 + 4: return visit_as<int32_t>(array, f);
    case 'i' * 256 + 8: return visit_as<int64_t>(array, f);
    case 'u' * 256 + 1: return visit_as<uint8_t>(array, f);
    case 'u' * 256 + 2: return visit_as<uint16_t>(array, f);
    case 'u' * 256 + 4: return visit_as<uint32_t>(array, f);
    case 'u' * 256 + 8: return visit_as<uint64_t>(array, f);
    case 'f' * 256 + 2: return visit_as<uint16_t>(array, [&](int64_t i, uint16_t v) { f(i, half_to_float(v)); });
    case 'f' * 256 + 4: return visit_as<float>(array, f);
    case 'f' * 256 + 8: return visit_as<double>(array, f);
    case 'f' * 256 + 16: return visit_as<long double>(array, f);
    default: throw data_error(fmt::format("{}: holds text, expected numbers", array.name));
  }
}

template <class To>
std::vector<To> to_integers(const NpyArray& array) {
  std::vector<To> result(array.count());
  visit(array, [&](int64_t i, auto value) {
    bool fits;
    if constexpr (std::is_integral_v<decltype(value)>) {
      fits = std::in_range<To>(value);
    } else {
      // 2^63 and 2^31 are exact in every float type.
      const long double limit = -static_cast<long double>(std::numeric_limits<To>::min());
      fits = value >= -limit && value < limit && value == std::floor(value);
    }
    if (!fits) {
      throw data_error(fmt::format("{}: value {} at position {} is not a whole number of {} bits", array.name,
                                   static_cast<double>(value), i, sizeof(To) * 8));
    }
    result[i] = static_cast<To>(value);
  });
  return result;
}

template <class Result>
Result to_reals(const NpyArray& array) {
  Result result(array.count());
  using Value = typename Result::value_type;
  visit(array, [&](int64_t i, auto value) { result[i] = static_cast<Value>(value); });
  return result;
}

template <class T>
std::string type_text() {
  const char kind = std::is_floating_point_v<T> ? 'f' : std::is_unsigned_v<T> ? 'u' : 'i';
  return fmt::format("{}{}{}", sizeof(T) == 1 ? '|' : '<', kind, sizeof(T));
}

}  // namespace

int64_t NpyArray::count() const {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

std::vector<int64_t> NpyArray::to_int64() const { return to_integers<int64_t>(*this); }
std::vector<int32_t> NpyArray::to_int32() const { return to_integers<int32_t>(*this); }
std::vector<double> NpyArray::to_double() const { return to_reals<std::vector<double>>(*this); }

Buffer<float> NpyArray::to_float() const {
  if (kind == 'f' && item_size == 4) {
    Buffer<float> result(count());
    if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  return to_reals<Buffer<float>>(*this);
}

std::string NpyArray::to_text() const {
  if ((kind != 'S' && kind != 'U') || count() != 1) throw data_error(fmt::format("{}: expected one text", name));
  const int64_t step = kind == 'U' ? 4 : 1;
  std::string text;
  for (int64_t i = 0; i < item_size && bytes[i] != '\0'; i += step) text += bytes[i];
  return text;
}

void NpyArray::expect_dimensions(size_t dimensions) const {
  if (shape.size() != dimensions) {
    throw data_error(fmt::format("{}: has {} dimensions, expected {}", name, shape.size(), dimensions));
  }
}

NpyArray read_npy(const std::string& path) {
  InputFile file(path);
  if (file.is_gzip()) throw data_error(fmt::format("{}: gzipped .npy files are not supported, use .npz", path));
  return parse_npy(path, std::filesystem::file_size(path),
                   [&](char* buffer, size_t size) { return file.read(buffer, size); });
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> result;
  for (const std::string& name : zip_.names()) {
    if (name.ends_with(".npy")) result.push_back(name.substr(0, name.size() - 4));
  }
  return result;
}

std::string NpzFile::first_of(std::initializer_list<std::string> wanted) const {
  const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const std::string& name) { return has(name); });
  return found == wanted.end() ? "" : *found;
}

NpyArray NpzFile::read(const std::string& name) const {
  const ZipArchive::Member member = zip_.open(name + ".npy");
  return parse_npy(fmt::format("{}: array '{}'", path(), name), member.size, member.read);
}

static std::string npy_header(const std::string& type, const std::vector<int64_t>& shape) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type,
                                   fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr size_t kPrefix = 10, kAlignment = 64;
  while ((kPrefix + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

template <class T>
std::string npy_bytes(std::span<const T> values, const std::vector<int64_t>& shape) {
  std::string bytes = npy_header(type_text<T>(), shape);
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return bytes;
}

std::string npy_text_bytes(std::span<const std::string_view> texts) {
  size_t width = 1;
  for (const std::string_view text : texts) width = std::max(width, text.size());
  std::string bytes = npy_header(fmt::format("|S{}", width), {static_cast<int64_t>(texts.size())});
  for (const std::string_view text : texts) {
    bytes += text;
    bytes.append(width - text.size(), '\0');
  }
  return bytes;
}

template std::string npy_bytes(std::span<const float>, const std::vector<int64_t>&);
template std::string npy_bytes(std::span<const double>, const std::vector<int64_t>&);
template std::string npy_bytes(std::span<const int32_t>, const std::vector<int64_t>&);
template std::string npy_bytes(std::span<const int64_t>, const std::vector<int64_t>&);
template std::string npy_bytes(std::span<const int16_t>, const std::vector<int64_t>&);
template std::string npy_bytes(std::span<const uint8_t>, const std::vector<int64_t>&);

}  // namespace graphpae
