#include "graphpae/io/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

// A .npy file made by hand.
std::string npy(const std::string& type, const std::string& shape, const std::string& data, bool fortran = false,
                char version = 1) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY", 6);
  bytes += version;
  bytes += '\0';
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + data;
}

template <class T>
std::string raw(std::initializer_list<T> values, bool swapped = false) {
  std::string bytes;
  for (const T& value : values) {
    std::string one(sizeof(T), '\0');
    std::memcpy(one.data(), &value, sizeof(T));
    if (swapped) std::reverse(one.begin(), one.end());
    bytes += one;
  }
  return bytes;
}

NpyArray read(const TempDir& dir, const std::string& bytes) { return read_npy(dir.write("a.npy", bytes)); }

TEST(Npy, ReadsEveryNumberType) {
  const TempDir dir;
  const std::vector<int64_t> expected = {1, 0, 100};
  EXPECT_EQ(read(dir, npy("|b1", "(3,)", std::string("\1\0\1", 3))).to_int64(), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(read(dir, npy("|i1", "(3,)", raw<int8_t>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("|u1", "(3,)", raw<uint8_t>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("<i2", "(3,)", raw<int16_t>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("<u2", "(3,)", raw<uint16_t>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("<i4", "(3,)", raw<int32_t>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("<u4", "(3,)", raw<uint32_t>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("<i8", "(3,)", raw<int64_t>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("<u8", "(3,)", raw<uint64_t>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("<f4", "(3,)", raw<float>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("<f8", "(3,)", raw<double>({1, 0, 100}))).to_int64(), expected);
  EXPECT_EQ(read(dir, npy("<f2", "(3,)", raw<uint16_t>({0x3c00, 0x0000, 0x5640}))).to_int64(), expected);
}

TEST(Npy, HalfPrecisionIsExact) {
  const TempDir dir;
  const auto values =
      read(dir, npy("<f2", "(5,)", raw<uint16_t>({0x0001, 0x8001, 0x7bff, 0x3555, 0xfc00}))).to_double();
  EXPECT_EQ(values[0], std::ldexp(1.0, -24));
  EXPECT_EQ(values[1], -std::ldexp(1.0, -24));
  EXPECT_EQ(values[2], 65504.0);
  EXPECT_EQ(values[3], 0.333251953125);
  EXPECT_EQ(values[4], -std::numeric_limits<double>::infinity());
}

TEST(Npy, ReadsBigEndianFortranOrderAndLaterVersions) {
  const TempDir dir;
  EXPECT_EQ(read(dir, npy(">i4", "(2,)", raw<int32_t>({7, -2}, true))).to_int64(), (std::vector<int64_t>{7, -2}));
  EXPECT_EQ(read(dir, npy(">f8", "(1,)", raw<double>({2.5}, true))).to_double()[0], 2.5);
  // Columns 1 4, 2 5, 3 6 of a 2 x 3 matrix.
  EXPECT_EQ(read(dir, npy("<i4", "(2, 3)", raw<int32_t>({1, 4, 2, 5, 3, 6}), true)).to_int64(),
            (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read(dir, npy("<i4", "(2, 1, 2)", raw<int32_t>({1, 3, 2, 4}), true)).to_int64(),
            (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(read(dir, npy("<i4", "(1,)", raw<int32_t>({9}), false, 2)).to_int64()[0], 9);
  EXPECT_EQ(read(dir, npy("<i4", "()", raw<int32_t>({9}), false, 3)).count(), 1);
  EXPECT_EQ(read(dir, npy("<f4", "(0, 5)", "")).count(), 0);
}

TEST(Npy, RefusesPicklesWithTheReason) {
  const TempDir dir;
  EXPECT_DATA_ERROR(read(dir, npy("|O", "(1,)", "abc")), "Python objects (a pickle)");
  EXPECT_DATA_ERROR(read(dir, npy("<c16", "(1,)", std::string(16, '\0'))), "are not numbers");
  EXPECT_DATA_ERROR(read(dir, npy("<M8[ns]", "(1,)", std::string(8, '\0'))), "not a readable NumPy array");
}

TEST(Npy, RefusesDamagedFiles) {
  const TempDir dir;
  const std::string good = npy("<i4", "(2,)", raw<int32_t>({1, 2}));
  EXPECT_DATA_ERROR(read(dir, good.substr(0, good.size() - 1)), "needs 8 bytes, but 7 are there");
  EXPECT_DATA_ERROR(read(dir, good + "x"), "needs 8 bytes, but 9 are there");
  EXPECT_DATA_ERROR(read(dir, good.substr(0, 20)), "the file ends in the header");
  EXPECT_DATA_ERROR(read(dir, "hello"), "NumPy mark");
  EXPECT_DATA_ERROR(read(dir, ""), "NumPy mark");
  EXPECT_DATA_ERROR(read(dir, npy("<i4", "(99999999999999, 99999999999999)", "")), "too large");
  EXPECT_DATA_ERROR(read(dir, npy("<i4", "(-1,)", "")), "shape is damaged");
  EXPECT_DATA_ERROR(read(dir, npy("<i4", "(2", "")), "damaged");
}

TEST(Npy, RefusesValuesThatDoNotFit) {
  const TempDir dir;
  EXPECT_DATA_ERROR(read(dir, npy("<f8", "(2,)", raw<double>({1, 1.5}))).to_int64(), "value 1.5 at position 1");
  EXPECT_DATA_ERROR(read(dir, npy("<f8", "(1,)", raw<double>({NAN}))).to_int64(), "position 0");
  EXPECT_DATA_ERROR(read(dir, npy("<i8", "(1,)", raw<int64_t>({int64_t{1} << 31}))).to_int32(),
                    "whole number of 32 bits");
  EXPECT_DATA_ERROR(read(dir, npy("<u8", "(1,)", raw<uint64_t>({~0ull}))).to_int64(), "position 0");
  EXPECT_DATA_ERROR(read(dir, npy("<f8", "(1,)", raw<double>({2147483648.0}))).to_int32(), "position 0");
  EXPECT_EQ(read(dir, npy("<f8", "(1,)", raw<double>({-2147483648.0}))).to_int32()[0], INT32_MIN);
  EXPECT_DATA_ERROR(read(dir, npy("|S3", "(1,)", "abc")).to_int64(), "holds text");
}

TEST(Npy, WritesWhatItReads) {
  const TempDir dir;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const NpyArray array = read(dir, npy_bytes<float>(values, {2, 3}));
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array.to_float()[5], 6.0f);
  EXPECT_EQ(npy_bytes<float>(values, {6}).size() % 64, 24u);  // header padded to 64 bytes
}

TEST(Npz, ReadsDeflatedAndStoredMembers) {
  const TempDir dir;
  const std::vector<int32_t> values(10000, 42);
  for (const bool compress : {true, false}) {
    const std::string path = dir / "a.npz";
    write_zip(path, {{"x.npy", npy_bytes<int32_t>(values, {10000})}, {"y.npy", npy("|S3", "()", "csr")}}, compress);
    const NpzFile file(path);
    EXPECT_EQ(file.names(), (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(file.read("x").to_int32(), values);
    EXPECT_EQ(file.read("y").to_text(), "csr");
    EXPECT_DATA_ERROR(file.read("z"), "no member 'z.npy'");
  }
}

void append(std::string& bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
}

// A zip file with one stored member; sizes in ZIP64 fields if asked, `declared` as the uncompressed size.
std::string handmade_zip(const std::string& name, const std::string& data, bool zip64, uint64_t declared,
                         uint32_t crc) {
  std::string extra;
  append(extra, 1, 2);
  append(extra, 16, 2);
  append(extra, declared, 8);
  append(extra, data.size(), 8);
  if (!zip64) extra.clear();
  const uint32_t shown_size = zip64 ? 0xffffffff : static_cast<uint32_t>(declared);
  const uint32_t shown_stored = zip64 ? 0xffffffff : static_cast<uint32_t>(data.size());
  const int method = declared == data.size() ? 0 : 8;
  const auto common = [&](std::string& out) {
    append(out, zip64 ? 45 : 20, 2);
    append(out, 0, 2);
    append(out, method, 2);
    append(out, 0, 4);
    append(out, crc, 4);
    append(out, shown_stored, 4);
    append(out, shown_size, 4);
    append(out, name.size(), 2);
    append(out, extra.size(), 2);
  };
  std::string out = "PK\3\4";
  common(out);
  out += name + extra + data;
  const size_t directory = out.size();
  out += "PK\1\2";
  append(out, 45, 2);
  common(out);
  append(out, 0, 2 + 2 + 2);
  append(out, 0, 4 + 4);
  out += name + extra;
  const size_t directory_size = out.size() - directory;
  out += "PK\5\6";
  append(out, 0, 4);
  append(out, 1, 2);
  append(out, 1, 2);
  append(out, directory_size, 4);
  append(out, directory, 4);
  append(out, 0, 2);
  return out;
}

uint32_t crc32_of(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  return ~crc;
}

TEST(Npz, ReadsZip64) {
  const TempDir dir;
  const std::string data = npy("<i4", "(2,)", raw<int32_t>({3, 4}));
  const NpzFile file(dir.write("a.npz", handmade_zip("x.npy", data, true, data.size(), crc32_of(data))));
  EXPECT_EQ(file.read("x").to_int64(), (std::vector<int64_t>{3, 4}));
}

TEST(Npz, RefusesBombs) {
  const TempDir dir;
  // 100 stored bytes that claim to unpack to 100 GB.
  const NpzFile claimed(dir.write("a.npz", handmade_zip("x.npy", std::string(100, 'x'), true, 100'000'000'000, 0)));
  EXPECT_DATA_ERROR(claimed.read("x"), "a.npz: member 'x.npy' declares 100000000000 bytes");
  // A header that promises more than the member holds: refused before anything is allocated.
  const std::string path = dir / "b.npz";
  write_zip(path, {{"x.npy", npy("<f8", "(1000000000000,)", "abc")}});
  EXPECT_DATA_ERROR(NpzFile(path).read("x"), "needs 8000000000000 bytes, but 3 are there");
}

TEST(Npz, RefusesDamage) {
  const TempDir dir;
  const std::string data = npy("<i4", "(2,)", raw<int32_t>({3, 4}));
  EXPECT_DATA_ERROR(NpzFile(dir.write("a.npz", handmade_zip("x.npy", data, false, data.size(), 1))).read("x"),
                    "member 'x.npy': CRC error");
  EXPECT_DATA_ERROR(NpzFile(dir.write("b.npz", "PK nonsense")), "b.npz: ");
  EXPECT_DATA_ERROR(NpzFile(dir / "missing.npz"), "No such file");
}

TEST(Zip, NeverUnpacksOutsideItsDirectory) {
  const TempDir dir;
  write_zip(dir / "a.zip", {{"../evil", "x"}});
  EXPECT_DATA_ERROR(ZipArchive(dir / "a.zip").extract_all(dir / "out"), "outside its directory");
  write_zip(dir / "b.zip", {{"d/", ""}, {"d/x", "hello"}});
  ZipArchive(dir / "b.zip").extract_all(dir / "out");
  EXPECT_EQ(test::slurp(dir / "out/d/x"), "hello");
}

}  // namespace
}  // namespace graphpae
