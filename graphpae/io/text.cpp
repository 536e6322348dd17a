#include "graphpae/io/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <utility>

namespace graphpae {
namespace {

// The whole text, trimmed, as a number. from_chars takes no plus sign.
template <class T>
std::optional<T> parse_whole(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || stopped != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::optional<int64_t> parse_int(std::string_view text) { return parse_whole<int64_t>(text); }
std::optional<double> parse_real(std::string_view text) { return parse_whole<double>(text); }

bool is_missing_text(std::string_view text) {
  constexpr std::string_view kWords[] = {"", "?", "nan", "na", "n/a", "<na>", "none", "null"};
  constexpr size_t kLongest = 4;
  text = trim(text);
  if (text.size() > kLongest) return false;
  const std::string word = lower(text);
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

std::string to_utf8(std::string_view text) {
  const auto follows = [&](size_t at) { return at < text.size() && (text[at] & 0xc0) == 0x80; };
  bool valid = true;
  for (size_t at = 0; at < text.size() && valid; ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) continue;
    const size_t more = byte >= 0xc2 && byte < 0xe0   ? 1
                        : (byte & 0xf0) == 0xe0       ? 2
                        : byte >= 0xf0 && byte < 0xf5 ? 3
                                                      : 0;
    valid = more > 0;
    for (size_t k = 1; k <= more; ++k) valid = valid && follows(at + k);
    if (!valid) break;
    const auto next =
        static_cast<unsigned char>(text[at + 1]);  // overlong forms, surrogates and what is above 0x10ffff
    if ((byte == 0xe0 && next < 0xa0) || (byte == 0xed && next > 0x9f) || (byte == 0xf0 && next < 0x90) ||
        (byte == 0xf4 && next > 0x8f))
      valid = false;
    at += more;
  }
  if (valid) return std::string(text);
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xc0 | byte >> 6);
      result += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return result;
}

bool split_fields(std::string_view line, char delimiter, std::vector<std::string>& fields) {
  fields.clear();
  if (delimiter == ' ') {
    while (!(line = trim(line)).empty()) {
      const size_t end = std::min(line.find_first_of(" \t"), line.size());
      fields.emplace_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    return true;
  }
  while (true) {
    if (line.starts_with('"')) {
      std::string field;
      size_t at = 1;
      while (true) {
        const size_t quote = line.find('"', at);
        if (quote == std::string_view::npos) return false;
        field += line.substr(at, quote - at);
        at = quote + 1;
        if (at >= line.size() || line[at] != '"') break;
        field += '"';
        ++at;
      }
      fields.push_back(std::move(field));
      line.remove_prefix(at);
      if (line.empty()) return true;
      if (!line.starts_with(delimiter)) return false;
      line.remove_prefix(1);
      continue;
    }
    const size_t end = line.find(delimiter);
    fields.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) return true;
    line.remove_prefix(end + 1);
  }
}

char sniff_delimiter(std::string_view line) {
  for (const char delimiter : {'\t', ',', ';'}) {
    if (line.find(delimiter) != std::string_view::npos) return delimiter;
  }
  return ' ';
}

std::string table_field(std::string_view text, char separator) {
  if (text.find_first_of(std::string("\"\r\n") + separator) == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string file_name(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::string without_gz(const std::string& path) {
  return path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path;
}

std::string existing_gz(const std::string& path) {
  for (const std::string& candidate : {path, path + ".gz"}) {
    if (std::filesystem::is_regular_file(candidate)) return candidate;
  }
  return "";
}

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, 1, ',');
  return digits;
}

std::string signed_text(double value, int decimals) {
  const std::string text = fmt::format("{:+.{}f}", value, decimals);
  const bool zero = text.find_first_not_of("+-0.") == std::string::npos;
  return zero ? text.substr(1) : text;
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) || std::string_view("_-./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    std::string quoted = word;
    for (size_t at = 0; !plain && (at = quoted.find('\'', at)) != std::string::npos; at += 4)
      quoted.replace(at, 1, "'\\''");
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return text;
}

}  // namespace graphpae
