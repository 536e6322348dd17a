#include "graphpae/core/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"

namespace graphpae {
namespace {

template <class T>
T parse_number(std::string_view text, const Range& range, const char* expected) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stopped != end) {
    throw usage_error(fmt::format("'{}' is not {}", text, expected));
  }
  const double number = static_cast<double>(value);
  if (!(number >= range.low && (range.open ? number < range.high : number <= range.high))) {
    throw usage_error(fmt::format("{} is out of range", text));
  }
  return value;
}

std::string describe(const Range& range) {
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  const char* less = range.open ? "<" : "<=";
  if (low && high) return fmt::format("{} <= x {} {}", range.low, less, range.high);
  if (low) return fmt::format(">= {}", range.low);
  if (high) return fmt::format("{} {}", less, range.high);
  return "";
}

}  // namespace

void OptionTable::add(Option option) {
  option.default_value = option.print();
  options_.push_back(std::move(option));
}

void OptionTable::add(std::string key, bool& field, std::string help) {
  add_choice(std::move(key), field, {{"true", true}, {"false", false}, {"yes", true}, {"no", false}}, std::move(help));
  options_.back().type = "yes/no";
}

void OptionTable::add(std::string key, int64_t& field, Range range, std::string help) {
  add({std::move(key), "integer", describe(range), std::move(help), "",
       [&field, range](std::string_view text) { field = parse_number<int64_t>(text, range, "an integer"); },
       [&field] { return std::to_string(field); }});
}

void OptionTable::add(std::string key, double& field, Range range, std::string help) {
  add({std::move(key), "number", describe(range), std::move(help), "",
       [&field, range](std::string_view text) { field = parse_number<double>(text, range, "a number"); },
       [&field] { return fmt::format("{}", field); }});
}

void OptionTable::add(std::string key, std::string& field, std::string help) {
  add({std::move(key), "text", "", std::move(help), "", [&field](std::string_view text) { field = text; },
       [&field] { return field; }});
}

void OptionTable::add(std::string key, std::vector<int64_t>& field, Range range, std::string help) {
  const auto parse = [&field, range](std::string_view text) {
    std::vector<int64_t> values;
    while (!text.empty()) {
      const size_t comma = std::min(text.find(','), text.size());
      values.push_back(parse_number<int64_t>(text.substr(0, comma), range, "a list of integers like 20,10,5"));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    field = std::move(values);
  };
  add({std::move(key), "integers", describe(range), std::move(help), "", parse,
       [&field] { return fmt::format("{}", fmt::join(field, ",")); }});
}

void OptionTable::add_named_values(std::string key, const std::vector<std::string>& names, std::string help,
                                   std::function<std::string()> print, std::function<bool(std::string_view)> choose) {
  const std::string expected = fmt::format("{}", fmt::join(names, "|"));
  const auto parse = [expected, names, choose = std::move(choose)](std::string_view text) {
    if (!choose(text)) {
      throw usage_error(fmt::format("'{}' is not one of {}{}", text, expected, did_you_mean(text, names)));
    }
  };
  add({std::move(key), "one of " + expected, "", std::move(help), "", parse, std::move(print)});
}

void OptionTable::set(std::string_view key, std::string_view text) {
  std::vector<std::string> keys;
  for (const Option& option : options_) {
    if (option.key == key) {
      try {
        option.parse(text);
      } catch (const Error& error) {
        const std::string range = option.range.empty() ? "" : fmt::format(", range {}", option.range);
        throw usage_error(fmt::format("{}: {} (expected {}{})", key, error.what(), option.type, range));
      }
      return;
    }
    keys.push_back(option.key);
  }
  throw usage_error(fmt::format("unknown setting '{}'{}", key, did_you_mean(key, keys)));
}

SettingList setting_list(const OptionTable& table) {
  SettingList list;
  for (const Option& option : table.options()) list.emplace_back(option.key, option.print());
  return list;
}

const std::string* find_setting(const SettingList& settings, const std::string& key) {
  for (const auto& [name, value] : settings) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace graphpae
