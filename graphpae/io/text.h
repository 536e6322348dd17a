// Small pieces of text parsing shared by the readers. Nothing here allocates per character.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphpae {

std::string_view trim(std::string_view text);
std::string lower(std::string_view text);  // in lower case

// The whole text must be a number; blanks around it are allowed.
std::optional<int64_t> parse_int(std::string_view text);
std::optional<double> parse_real(std::string_view text);  // also nan and inf

// Whether a value is missing: nothing, ?, nan, na, n/a, <na>, none or null in any case.
bool is_missing_text(std::string_view text);

// The text if it is UTF-8; any other is taken for Latin-1.
std::string to_utf8(std::string_view text);

// Fields of one line. With delimiter ' ', any run of blanks and tabs separates. Otherwise a field may
// stand in double quotes, in which "" is a quote. Returns false if a quote is not closed.
bool split_fields(std::string_view line, char delimiter, std::vector<std::string>& fields);

// The most likely delimiter of a line: a tab, a comma, a semicolon, or blanks.
char sniff_delimiter(std::string_view line);

// A field of a table to write: in quotes if it holds a separator, a quote or a line end.
std::string table_field(std::string_view text, char separator);

// "a/b/c.csv" -> "c.csv"
std::string file_name(const std::string& path);
// The path without a final ".gz".
std::string without_gz(const std::string& path);
// path or path.gz, whichever exists, or "".
std::string existing_gz(const std::string& path);

// 12345678 -> "12,345,678"
std::string grouped(int64_t number);

// Words of a command as a shell reads them back.
std::string shell_words(const std::vector<std::string>& words);

// A difference: "+1.25", "-0.04", and "0.00" without a sign if all the digits that are shown are zero.
std::string signed_text(double value, int decimals);

}  // namespace graphpae
