// Text in lines of a given width.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace graphpae::cli {

inline constexpr size_t kHelpWidth = 100;  // at most

// The words of a text in lines of at most `width` columns; a longer word has a line of its own.
std::vector<std::string> wrapped(const std::string& text, size_t width);

// Two columns: names, and their meanings beside them, or below where a name is too long.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;
std::string two_columns(const NamedTexts& rows, size_t width);

}  // namespace graphpae::cli
