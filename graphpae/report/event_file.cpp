#include <array>
#include <bit>
#include <cmath>

#include "graphpae/report/metrics_file.h"

namespace graphpae {
namespace {

static_assert(std::endian::native == std::endian::little, "event files are little endian");

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0x82f63b78u : 0);
    table[byte] = value;
  }
  return table;
}();

template <class T>
void append_bytes(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void append_varint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

enum class Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void append_tag(std::string& to, int field, Wire wire) {
  append_varint(to, static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire));
}

void append_text(std::string& to, int field, std::string_view text) {
  append_tag(to, field, Wire::bytes);
  append_varint(to, text.size());
  to += text;
}

// Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
std::string event(double time, int64_t step) {
  std::string message;
  append_tag(message, 1, Wire::fixed64);
  append_bytes(message, time);
  append_tag(message, 2, Wire::varint);
  append_varint(message, static_cast<uint64_t>(step));
  return message;
}

// Summary { repeated Value value = 1; } Value { string tag = 1; float simple_value = 2; }
std::string scalar(const std::string& tag, double number) {
  std::string value, summary;
  append_text(value, 1, tag);
  append_tag(value, 2, Wire::fixed32);
  append_bytes(value, static_cast<float>(number));
  append_text(summary, 1, value);
  return summary;
}

void append_record(std::string& file, const std::string& message) {
  std::string length;
  append_bytes(length, static_cast<uint64_t>(message.size()));
  file += length;
  append_bytes(file, masked_crc32c(length));
  file += message;
  append_bytes(file, masked_crc32c(message));
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

std::string event_file(const Metrics& metrics, double start) {
  std::string file, version = event(start, 0);
  append_text(version, 3, "brain.Event:2");
  append_record(file, version);
  const Metrics::Column* seconds = metrics.find("seconds");
  double time = start;
  for (size_t line = 0; line < metrics.epochs.size(); ++line) {
    if (seconds != nullptr && std::isfinite(seconds->values[line])) time += seconds->values[line];
    for (const auto& column : metrics.columns) {
      if (std::isnan(column.values[line])) continue;
      std::string message = event(time, metrics.epochs[line]);
      append_text(message, 5, scalar(column.name, column.values[line]));
      append_record(file, message);
    }
  }
  return file;
}

}  // namespace graphpae
