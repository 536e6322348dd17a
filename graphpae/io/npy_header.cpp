#include "graphpae/io/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <utility>

namespace graphpae {
namespace {

class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
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
        header.shape = tuple();
        has_shape = true;
      } else {
        throw bad(fmt::format("unknown header key '{}'", key));
      }
      accept(',');
    }
    if (!has_type || !has_order || !has_shape) throw bad("the header lacks descr, fortran_order or shape");
    return header;
  }

  Error bad(const std::string& reason) const { return bad_npy(name_, reason); }

 private:
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

  const std::string& name_;
  std::string_view text_;
};

void parse_type(const HeaderParser& parser, NpyHeader& header) {
  const std::string& text = header.type;
  if (text.find('O') != std::string::npos) {
    throw parser.bad(
        "it holds Python objects (a pickle), which can run code when loaded and are refused; "
        "save it as a numeric array");
  }
  const bool has_order = !text.empty() && (text[0] == '<' || text[0] == '>' || text[0] == '|' || text[0] == '=');
  const std::string rest = has_order ? text.substr(1) : text;
  header.kind = rest.empty() || rest[0] == '?' ? 'b' : rest[0];
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] < '0' || rest[i] > '9' || i > 9) throw parser.bad(fmt::format("unknown type '{}'", text));
    header.item_size = header.item_size * 10 + (rest[i] - '0');
  }
  header.swapped = has_order && text[0] == (std::endian::native == std::endian::little ? '>' : '<');
  const auto one_of = [&](std::initializer_list<int64_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), header.item_size) != sizes.end();
  };
  bool known = false;
  switch (header.kind) {
    case 'b': known = one_of({1}); break;
    case 'i':
    case 'u': known = one_of({1, 2, 4, 8}); break;
    case 'f': known = one_of({2, 4, 8}) || header.item_size == sizeof(long double); break;
    case 'S': known = true; break;
    case 'U':
      known = true;
      header.item_size *= 4;
      break;
    default: break;
  }
  if (!known) throw parser.bad(fmt::format("values of type '{}' are not numbers", text));
}

}  // namespace

Error bad_npy(const std::string& name, const std::string& reason) {
  return data_error(fmt::format("{}: not a readable NumPy array: {}", name, reason));
}

NpyHeader parse_npy_header(const std::string& name, std::string_view text) {
  HeaderParser parser(name, text);
  NpyHeader header = parser.parse();
  parse_type(parser, header);
  return header;
}

}  // namespace graphpae
