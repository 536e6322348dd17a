#include "graphpae/data/target_column.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_set>

#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr double kNoTarget = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kLongestShown = 40;  // in messages
constexpr size_t kMostTexts = 50;     // more are not told apart
constexpr size_t kMostListed = 10;    // in messages
constexpr std::string_view kNegative[] = {"no",   "n",     "false",  "f",   "negative", "neg", "-",
                                          "fail", "fails", "failed", "low", "absent",   "off", "control"};
constexpr std::string_view kSplitWords[] = {"train", "training", "valid", "validation", "val", "dev", "test"};

template <class Words>
bool is_among(std::string_view word, const Words& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// A column without a name is the row index that some programs write first.
bool named_like_an_id(const std::string& column) {
  constexpr std::string_view kNames[] = {"", "id", "cid", "index", "idx", "unnamed: 0", "row"};
  constexpr std::string_view kEnds[] = {"_id", " id", "-id", "_cid", "_index", "_idx"};
  const std::string name = lower(column);
  return is_among(name, kNames) ||
         std::any_of(std::begin(kEnds), std::end(kEnds), [&](std::string_view end) { return name.ends_with(end); });
}

std::string listed(const std::vector<std::string>& texts) {
  std::vector<std::string> shown;
  for (const std::string& text : texts) {
    if (shown.size() == kMostListed) {
      shown.emplace_back("...");
      break;
    }
    shown.push_back(text.substr(0, kLongestShown));
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::optional<double> parse_target(std::string_view text) {
  if (is_missing_text(text)) return kNoTarget;
  const std::optional<double> value = parse_real(text);
  return value && !std::isinf(*value) ? value : std::nullopt;
}

std::optional<double> parse_censored(std::string_view text) {
  text = trim(text);
  for (const std::string_view sign :
       {">=", "<=", ">>", "<<", ">", "<", "~", "=", "\xe2\x89\xa5", "\xe2\x89\xa4", "\xe2\x89\x88"}) {
    if (!text.starts_with(sign)) continue;
    const std::optional<double> value = parse_real(text.substr(sign.size()));
    return value && std::isfinite(*value) ? value : std::nullopt;
  }
  return std::nullopt;
}

ClassPair order_classes(const std::string& a, const std::string& b) {
  const std::string low_a = lower(a), low_b = lower(b);
  const bool a_negative = is_among(low_a, kNegative), b_negative = is_among(low_b, kNegative);
  if (a_negative != b_negative) return a_negative ? ClassPair{a, b, true} : ClassPair{b, a, true};
  if (low_a.size() != low_b.size()) {
    const std::string &longer = low_a.size() > low_b.size() ? low_a : low_b,
                      &shorter = &longer == &low_a ? low_b : low_a;
    if (shorter.size() >= 3 && longer.ends_with(shorter))
      return &longer == &low_a ? ClassPair{a, b, true} : ClassPair{b, a, true};
  } else if (!low_a.empty() && low_a.substr(0, low_a.size() - 1) == low_b.substr(0, low_b.size() - 1)) {
    if (low_a.back() == '-' && low_b.back() == '+') return {a, b, true};
    if (low_a.back() == '+' && low_b.back() == '-') return {b, a, true};
  }
  return low_a < low_b ? ClassPair{a, b} : ClassPair{b, a};
}

bool are_ids(const std::string& name, const std::vector<double>& values) {
  std::unordered_set<double> seen;
  return named_like_an_id(name) && std::all_of(values.begin(), values.end(), [&](double value) {
           return value == std::floor(value) && seen.insert(value).second;
         });
}

void TargetColumn::add(std::string_view text, int64_t place) {
  if (too_many_ || (!texts_.empty() && numbers_ > 0)) return;
  if (const std::optional<double> value = parse_target(text)) {
    numbers_ += !std::isnan(*value);
    return values_.push_back(*value);
  }
  if (const std::optional<double> value = parse_censored(text)) {
    if (++censored_ == 1) first_censored_ = trim(text).substr(0, kLongestShown);
    ++numbers_;
    return values_.push_back(*value);
  }
  text = trim(text);
  if (first_place_ == 0) {
    first_text_ = text.substr(0, kLongestShown);
    first_place_ = place;
  }
  const std::string word = lower(text);
  const auto found =
      std::find_if(texts_.begin(), texts_.end(), [&](const std::string& one) { return lower(one) == word; });
  values_.push_back(static_cast<double>(found - texts_.begin()));
  if (found != texts_.end()) {
    ++counts_[found - texts_.begin()];
  } else if (texts_.size() == kMostTexts) {
    too_many_ = true;
  } else {
    texts_.emplace_back(text);
    counts_.push_back(1);
  }
}

TargetColumn::Result TargetColumn::as_classes(bool asked_for) {
  Result result;
  result.reason = fmt::format("is not numeric ('{}')", first_text_);
  result.text = first_text_;
  result.place = first_place_;
  if (too_many_ || numbers_ > 0 || texts_.size() < 2) return result;
  int64_t rows = 0;
  for (const int64_t count : counts_) rows += count;
  const bool repeated = rows >= 2 * static_cast<int64_t>(texts_.size());
  if (texts_.size() > 2) {
    if (!asked_for && (!repeated || texts_.size() > kMostListed)) return result;
    result.place = 0;
    result.reason = fmt::format("holds {} different texts ({}), neither numbers nor two classes{}", texts_.size(),
                                listed(texts_), asked_for ? "" : ",");
    return result;
  }
  const ClassPair pair = order_classes(texts_[0], texts_[1]);
  const bool splits = is_among(lower(pair.zero), kSplitWords) && is_among(lower(pair.one), kSplitWords);
  if (!asked_for && (splits || (!pair.certain && !repeated))) return result;
  result.reason.clear();
  result.place = 0;
  const double first = texts_[0] == pair.zero ? 0 : 1;
  for (double& value : values_) value = std::isnan(value) ? value : std::abs(value - first);
  result.values = std::move(values_);
  result.note = fmt::format("holds two classes: '{}' is 0, '{}' is 1", pair.zero.substr(0, kLongestShown),
                            pair.one.substr(0, kLongestShown));
  return result;
}

TargetColumn::Result TargetColumn::as_numbers(bool asked_for) {
  Result result;
  if (!asked_for && numbers_ == 0) {
    result.reason = "has no values";
  } else if (!asked_for && censored_ == 0 && are_ids(name_, values_)) {
    result.reason = "holds ids, not targets,";
  } else {
    result.values = std::move(values_);
    if (censored_ > 0)
      result.note = fmt::format("has {} censored value{} such as '{}', taken as the number", grouped(censored_),
                                censored_ == 1 ? "" : "s", first_censored_);
  }
  return result;
}

TargetColumn::Result TargetColumn::finish(bool asked_for) && {
  return first_place_ > 0 ? as_classes(asked_for) : as_numbers(asked_for);
}

}  // namespace graphpae
