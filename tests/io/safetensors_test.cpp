#include "graphpae/io/safetensors.h"

#include <cstring>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

std::span<const char> bytes_of(const auto& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
}

TEST(SafeTensors, RoundTrip) {
  const TempDir dir;
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> b = {-7};
  write_safetensors(
      dir / "f", {{"who", "a \"test\""}},
      {{"a.weight", "F32", {2, 3}, bytes_of(a)}, {"b", "I64", {}, bytes_of(b)}, {"none", "F32", {0, 4}, {}}});
  const SafeTensors file(dir / "f");
  EXPECT_EQ(file.metadata("who"), "a \"test\"");
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.find("a.weight").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::memcmp(file.find("a.weight").bytes.data(), a.data(), 24), 0);
  EXPECT_EQ(std::memcmp(file.find("b").bytes.data(), b.data(), 8), 0);
  EXPECT_DATA_ERROR(file.find("c"), "tensor 'c' is missing");
  EXPECT_DATA_ERROR(file.metadata("x"), "metadata 'x' is missing");

  // The layout of the format, byte by byte.
  const std::string raw = test::slurp(dir / "f");
  uint64_t header = 0;
  std::memcpy(&header, raw.data(), 8);
  EXPECT_EQ((8 + header) % 64, 0u);
  EXPECT_EQ(raw.size(), 8 + header + 24 + 8);
  EXPECT_NE(raw.find("\"a.weight\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}"), std::string::npos);
}

std::string file_with(const std::string& header, size_t data) {
  const uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char*>(&size), 8);
  return bytes + header + std::string(data, 'x');
}

TEST(SafeTensors, BadFilesAreRefused) {
  const TempDir dir;
  const auto open = [&](const std::string& bytes) { SafeTensors(dir.write("f", bytes)); };
  EXPECT_DATA_ERROR(open("abc"), "too short");
  EXPECT_DATA_ERROR(open(std::string(8, '\xff')), "cut off");
  EXPECT_DATA_ERROR(open(file_with("{", 0)), "not a JSON object");
  EXPECT_DATA_ERROR(open(file_with("[]", 0)), "not a JSON object");
  EXPECT_DATA_ERROR(open(file_with(R"({"a":{"dtype":"F32"}})", 0)), "expected");
  EXPECT_DATA_ERROR(open(file_with(R"({"a":{"dtype":"F3","shape":[1],"data_offsets":[0,4]}})", 4)), "unknown type F3");
  EXPECT_DATA_ERROR(open(file_with(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3)), "do not hold");
  EXPECT_DATA_ERROR(open(file_with(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4)), "do not hold");
  EXPECT_DATA_ERROR(open(file_with(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4)), "expected");
  EXPECT_DATA_ERROR(open(file_with(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})", 4)),
                    "too large");
  EXPECT_DATA_ERROR(open(file_with(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                   R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                                   8)),
                    "overlap");
  EXPECT_DATA_ERROR(open(file_with(R"({"__metadata__":{"a":1}})", 0)), "not text");
}

}  // namespace
}  // namespace graphpae
