#include "graphpae/io/input_file.h"

#include <gtest/gtest.h>

#include "graphpae/io/atomic_file.h"
#include "graphpae/io/sha256.h"
#include "graphpae/io/text.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::TempDir;

std::vector<std::string> lines_of(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line)) lines.emplace_back(line);
  return lines;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919) + "\n";
  return text;
}

TEST(InputFile, ReadsPlainAndGzipAlike) {
  const TempDir dir;
  const std::string text = long_text();
  EXPECT_EQ(read_file(dir.write("plain.txt", text)), text);
  EXPECT_EQ(read_file(dir.write("named-anything", gzip_bytes(text))), text);
  EXPECT_EQ(read_file(dir.write("empty", "")), "");
  EXPECT_EQ(read_file(dir.write("one", "x")), "x");
}

TEST(InputFile, ReadsSeveralGzipMembersAndZeroPadding) {
  const TempDir dir;
  EXPECT_EQ(read_file(dir.write("two.gz", gzip_bytes("ab") + gzip_bytes("cd") + std::string(100, '\0'))), "abcd");
}

TEST(InputFile, TruncatedOrDamagedGzipIsAnError) {
  const TempDir dir;
  const std::string packed = gzip_bytes(long_text());
  for (const size_t size : {packed.size() - 1, packed.size() - 8, packed.size() / 2, size_t{12}, size_t{3}}) {
    EXPECT_DATA_ERROR(read_file(dir.write("cut.gz", packed.substr(0, size))), "cut.gz: the gzip data end too early");
  }
  std::string damaged = packed;
  damaged[packed.size() / 2] ^= 0x55;
  EXPECT_DATA_ERROR(read_file(dir.write("bad.gz", damaged)), "bad.gz: damaged gzip data");
  EXPECT_DATA_ERROR(read_file(dir.write("tail.gz", packed + "garbage")), "damaged gzip data");
}

TEST(InputFile, NamesWhatCannotBeOpened) {
  const TempDir dir;
  EXPECT_DATA_ERROR(InputFile(dir / "missing"), "missing: No such file");
  EXPECT_DATA_ERROR(InputFile(dir.path()), "is a directory");
  EXPECT_DATA_ERROR(read_file(dir.write("big", std::string(100, 'x')), 10), "longer than 10 bytes");
}

TEST(LineReader, HandlesAllLineEnds) {
  const TempDir dir;
  EXPECT_EQ(lines_of(dir.write("a",
                               "\xef\xbb\xbf"
                               "one\r\ntwo\n\nthree")),
            (std::vector<std::string>{"one", "two", "", "three"}));
  EXPECT_TRUE(lines_of(dir.write("b", "")).empty());
  EXPECT_EQ(lines_of(dir.write("c", "\n")).size(), 1u);
}

TEST(LineReader, HandlesLinesLongerThanItsBuffer) {
  const TempDir dir;
  const std::string longest(3'000'000, 'y');
  const auto lines = lines_of(dir.write("a", "x\n" + longest + "\nz"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], longest);
}

TEST(Text, ParsesNumbersStrictly) {
  EXPECT_EQ(parse_int(" +42 "), 42);
  EXPECT_EQ(parse_int("-7"), -7);
  for (const char* bad : {"", "4x", "1.0", "99999999999999999999", "+-3", "0x10"}) EXPECT_FALSE(parse_int(bad)) << bad;
  EXPECT_EQ(parse_real("1e3"), 1000.0);
  for (const char* bad : {"", "one", "1,5", "1e"}) EXPECT_FALSE(parse_real(bad)) << bad;
}

TEST(Text, SplitsFields) {
  std::vector<std::string> fields;
  EXPECT_TRUE(split_fields("a,\"b,\"\"c\"\"\",,d", ',', fields));
  EXPECT_EQ(fields, (std::vector<std::string>{"a", "b,\"c\"", "", "d"}));
  EXPECT_TRUE(split_fields("  a \t b  ", ' ', fields));
  EXPECT_EQ(fields, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(split_fields("a,\"b", ',', fields));
  EXPECT_FALSE(split_fields("\"a\"b,c", ',', fields));
  EXPECT_TRUE(split_fields("a,", ',', fields));
  EXPECT_EQ(fields.size(), 2u);
}

TEST(Sha256, KnownAnswers) {
  Sha256 empty;
  EXPECT_EQ(empty.hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 abc;
  abc.update("a");
  abc.update("bc");
  EXPECT_EQ(abc.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const TempDir dir;
  EXPECT_EQ(sha256_of_file(dir.write("abc", "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace graphpae
