// OptionTable: settings declared once. A declaration names the field, its range and its help; the
// default is the field's initial value. Command line, YAML, --set, the saved config and the settings
// page of the documentation all come from the table.
//
//   void declare(OptionTable& table, GenerateOptions& options) {
//     table.add("nodes", options.nodes, between(1, 1e9), "number of nodes");
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphpae {

// The allowed values of a number: low <= value <= high, or strictly below `high` if open.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open = false;
};
inline Range between(double low, double high) { return {low, high, false}; }
inline Range below(double low, double high) { return {low, high, true}; }
inline Range at_least(double low) { return {low, std::numeric_limits<double>::infinity(), false}; }

struct Option {
  std::string key;
  std::string type;   // "integer", "number", "yes/no", "text", "one of a|b|c", "integers"
  std::string range;  // "0..1", ">= 1", or ""
  std::string help;
  std::string default_value;
  std::function<void(std::string_view)> parse;  // throws a usage error without naming the key
  std::function<std::string()> print;
};

// Refers to the fields it was given: they must outlive it.
class OptionTable {
 public:
  void add(std::string key, bool& field, std::string help);
  void add(std::string key, int64_t& field, Range range, std::string help);
  void add(std::string key, double& field, Range range, std::string help);
  void add(std::string key, std::string& field, std::string help);
  void add(std::string key, std::vector<int64_t>& field, Range range, std::string help);

  // A field with a fixed set of values, each with its name. `former` names are understood, but neither offered nor
  // written.
  template <class E>
  void add_choice(std::string key, E& field, std::vector<std::pair<std::string, E>> choices, std::string help,
                  std::vector<std::pair<std::string, E>> former = {});

  // Sets one option from text. Throws a usage error that names the key, what was found and what is
  // expected; an unknown key suggests the nearest one.
  void set(std::string_view key, std::string_view text);

  const std::vector<Option>& options() const { return options_; }

 private:
  void add(Option option);
  void add_named_values(std::string key, const std::vector<std::string>& names, std::string help,
                        std::function<std::string()> print, std::function<bool(std::string_view)> choose);

  std::vector<Option> options_;
};

using SettingList = std::vector<std::pair<std::string, std::string>>;  // key, value as text
SettingList setting_list(const OptionTable& table);                    // every option with its present value
const std::string* find_setting(const SettingList& settings, const std::string& key);  // null if it is not there

// Sets every key of a YAML text; `source` (a file name) starts the error messages. Nested maps and dotted keys are the
// same: `probe: {lr: 0.01}` and `probe.lr: 0.01`. Lists become comma-separated text.
void set_from_yaml(OptionTable& table, const std::string& yaml, const std::string& source);

// The list of settings, in the order of declaration.
std::string to_yaml(const OptionTable& table);

template <class E>
void OptionTable::add_choice(std::string key, E& field, std::vector<std::pair<std::string, E>> choices,
                             std::string help, std::vector<std::pair<std::string, E>> former) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  const auto print = [&field, choices] {
    for (const auto& choice : choices) {
      if (choice.second == field) return choice.first;
    }
    return std::string();
  };
  const auto choose = [&field, choices, former](std::string_view text) {
    for (const auto* known : {&choices, &former}) {
      for (const auto& choice : *known) {
        if (choice.first != text) continue;
        field = choice.second;
        return true;
      }
    }
    return false;
  };
  add_named_values(std::move(key), names, std::move(help), print, choose);
}

}  // namespace graphpae
