// How wide the terminal is, and text that fits into it.
#pragma once

#include <cstddef>
#include <string>

namespace graphpae::cli {

inline constexpr size_t kUnlimited = static_cast<size_t>(-1);

// Columns of the terminal behind a file descriptor; kUnlimited if it is a file or a pipe.
size_t terminal_width(int descriptor);

// Characters that UTF-8 text shows.
size_t text_width(const std::string& text);

// The first columns of a text; if there are more, the last three of those that fit are dots.
std::string fitted(const std::string& text, size_t width);

}  // namespace graphpae::cli
