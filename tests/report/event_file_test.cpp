#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <variant>

#include "graphpae/report/metrics_file.h"

namespace graphpae {
namespace {

TEST(EventFile, ChecksumsOfTheStandard) {
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending, descending;
  for (char c = 0; c < 32; ++c) {
    ascending += c;
    descending += static_cast<char>(31 - c);
  }
  EXPECT_EQ(crc32c(ascending), 0x46dd794eu);
  EXPECT_EQ(crc32c(descending), 0x113fdb5cu);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(masked_crc32c(""), 0xa282ead8u);
}

template <class T>
T take(std::string_view& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return value;
}

uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

// Fields of a message by number, as numbers or bytes, read as any reader of protocol buffers does.
using Fields = std::map<int, std::variant<uint64_t, double, float, std::string_view>>;
Fields parse(std::string_view bytes) {
  Fields fields;
  while (!bytes.empty()) {
    const uint64_t tag = take_varint(bytes);
    auto& field = fields[static_cast<int>(tag >> 3)];
    switch (tag & 7) {
      case 0: field = take_varint(bytes); break;
      case 1: field = take<double>(bytes); break;
      case 5: field = take<float>(bytes); break;
      default: {
        const uint64_t length = take_varint(bytes);
        field = bytes.substr(0, length);
        bytes.remove_prefix(length);
      }
    }
  }
  return fields;
}

TEST(EventFile, ReadsBackAsScalars) {
  Metrics metrics;
  metrics.epochs = {1, 300};
  metrics.columns = {{"loss", {0.5, std::nan("")}}, {"seconds", {1.5, 2.0}}};
  const std::string file = event_file(metrics, 1000);
  std::string_view rest = file;
  std::vector<Fields> events;
  while (!rest.empty()) {
    const std::string length_bytes(rest.substr(0, 8));
    const auto length = take<uint64_t>(rest);
    EXPECT_EQ(take<uint32_t>(rest), masked_crc32c(length_bytes));
    const std::string_view message = rest.substr(0, length);
    rest.remove_prefix(length);
    EXPECT_EQ(take<uint32_t>(rest), masked_crc32c(message));
    events.push_back(parse(message));
  }
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(std::get<std::string_view>(events[0][3]), "brain.Event:2");
  const auto check = [&](size_t k, double time, uint64_t step, const std::string& tag, float value) {
    EXPECT_EQ(std::get<double>(events[k][1]), time);
    EXPECT_EQ(std::get<uint64_t>(events[k][2]), step);
    Fields scalar = parse(std::get<std::string_view>(parse(std::get<std::string_view>(events[k][5]))[1]));
    EXPECT_EQ(std::get<std::string_view>(scalar[1]), tag);
    EXPECT_EQ(std::get<float>(scalar[2]), value);
  };
  check(1, 1001.5, 1, "loss", 0.5f);
  check(2, 1001.5, 1, "seconds", 1.5f);
  check(3, 1003.5, 300, "seconds", 2.0f);
}

}  // namespace
}  // namespace graphpae
