// Targets of molecules from the texts of a column: numbers, censored numbers (>10), or two classes (active, inactive).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphpae {

// A number, NaN for a missing value (is_missing_text), or nothing if the text is neither.
std::optional<double> parse_target(std::string_view text);

// The number behind >, <, ~, >=, <= or their signs in Unicode; nothing for any other text.
std::optional<double> parse_censored(std::string_view text);

// Of two classes the one that is 0, and the other: of no/yes, false/true, negative/positive, -/+ and the like the
// first; of inactive/active, non-toxic/toxic the one that ends like the other and is longer; else in alphabetical
// order. `certain`: by their meaning, not by the alphabet.
struct ClassPair {
  std::string zero, one;
  bool certain = false;
};
ClassPair order_classes(const std::string& a, const std::string& b);

class TargetColumn {
 public:
  explicit TargetColumn(std::string name) : name_(std::move(name)) {}

  // The text of the next row, which stands at `place` (a line or a record).
  void add(std::string_view text, int64_t place);

  // What became of the rows that were added. A column that was asked for need not look like a target: two texts are
  // classes even if they might be names, and numbers are targets even if they might be ids.
  struct Result {
    std::vector<double> values;  // [rows], NaN where missing; empty if the column is no target
    std::string reason;          // why it is none: "is not numeric ('good')"
    std::string text;            // that is not a number, and its place; or 0 if the column as a whole is none
    int64_t place = 0;
    std::string note;  // how it was read, if there is something to say
  };
  Result finish(bool asked_for) &&;

  const std::string& name() const { return name_; }

 private:
  Result as_classes(bool asked_for);
  Result as_numbers(bool asked_for);

  std::string name_;
  std::vector<double> values_;      // [rows] numbers; of a text the number of its class
  std::vector<std::string> texts_;  // the different texts that are no numbers, in any case, as they first appear
  std::vector<int64_t> counts_;     // [texts]
  int64_t numbers_ = 0, censored_ = 0;
  std::string first_text_, first_censored_;
  int64_t first_place_ = 0;
  bool too_many_ = false;  // different texts
};

// Whether values are ids by the name of their column or tag (id, index, ..., mol_id), all whole and none twice.
bool are_ids(const std::string& name, const std::vector<double>& values);

}  // namespace graphpae
