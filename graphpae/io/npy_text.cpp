#include "graphpae/io/npy_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

void append_utf8(std::string& text, uint32_t code) {
  const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | (code >> 18 & 7));
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

}  // namespace

std::vector<std::string> texts_of(const NpyArray& array) {
  if (array.kind != 'S' && array.kind != 'U')
    throw data_error(fmt::format("{}: expected an array of texts", array.name));
  std::vector<std::string> texts;
  for (int64_t i = 0; i < array.count(); ++i) {
    const char* item = array.bytes.data() + i * array.item_size;
    std::string& text = texts.emplace_back();
    if (array.kind == 'S') {
      text.assign(item, strnlen(item, static_cast<size_t>(array.item_size)));
      continue;
    }
    for (int64_t at = 0; at + 4 <= array.item_size; at += 4) {
      uint32_t code;
      std::memcpy(&code, item + at, 4);
      if (code == 0) break;
      append_utf8(text, code);
    }
  }
  return texts;
}

}  // namespace graphpae
