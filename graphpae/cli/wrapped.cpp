#include "graphpae/cli/wrapped.h"

#include <algorithm>
#include <sstream>

#include "graphpae/cli/terminal.h"

namespace graphpae::cli {

std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.empty() && text_width(lines.back()) + 1 + text_width(word) <= width)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

std::string two_columns(const NamedTexts& rows, size_t width) {
  constexpr size_t kIndent = 2, kWidest = 26;
  size_t widest = 0;
  for (const auto& [name, meaning] : rows) {
    if (text_width(name) <= kWidest) widest = std::max(widest, text_width(name));
  }
  const size_t column = kIndent + widest + 2, room = std::max(width, column + 20) - column;
  std::string text;
  for (const auto& [name, meaning] : rows) {
    std::string line = std::string(kIndent, ' ') + name;
    if (text_width(line) + 2 > column) {
      text += line + "\n";
      line.clear();
    }
    for (const std::string& part : wrapped(meaning, room)) {
      line.resize(line.size() + column - text_width(line), ' ');
      text += line + part + "\n";
      line.clear();
    }
  }
  return text;
}

}  // namespace graphpae::cli
