#include "graphpae/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace graphpae::cli {
namespace {

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

std::string first_columns(const std::string& text, size_t columns) {
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end) {
    if (begins_character(text[end]) && seen++ == columns) break;
  }
  return text.substr(0, end);
}

}  // namespace

size_t terminal_width(int descriptor) {
  if (::isatty(descriptor) == 0) return kUnlimited;
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

size_t text_width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string fitted(const std::string& text, size_t width) {
  if (text_width(text) <= width) return text;
  if (width <= 3) return first_columns(text, width);
  return first_columns(text, width - 3) + "...";
}

}  // namespace graphpae::cli
