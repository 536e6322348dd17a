#include "graphpae/evaluate/random_splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

// Far from the small streams that other uses of a seed count up.
constexpr uint64_t kSplitStream = 0x73706c697473;

constexpr double kSumSlack = 1e-12;  // of shares such as 33.3/33.3/33.4
constexpr double kRounding = 1e-6;   // of a share times a number of nodes

constexpr size_t kParts = 3;
constexpr std::array<const char*, kParts> kNames = {"train", "val", "test"};

using Shares = std::array<double, kParts + 1>;  // the last is in no part
using Sizes = std::array<int64_t, kParts + 1>;

Shares checked_shares(const RandomSplitOptions& options) {
  Shares shares = {options.train, options.val, options.test, 0};
  double sum = 0;
  for (size_t part = 0; part < kParts; ++part) {
    if (!(shares[part] > 0)) {
      throw usage_error(fmt::format("share of {} is {:g}%, expected above 0", kNames[part], 100 * shares[part]));
    }
    sum += shares[part];
  }
  if (sum > 1 + kSumSlack) throw usage_error(fmt::format("shares add up to {:.12g}%, over 100", 100 * sum));
  if (sum < 1 - kSumSlack) shares[kParts] = 1 - sum;
  return shares;
}

// Ids that are shared out together, by class, or all under class 0.
std::map<int32_t, std::vector<int32_t>> group_nodes(std::span<const int32_t> labels, bool stratified) {
  std::map<int32_t, std::vector<int32_t>> groups;
  for (size_t node = 0; node < labels.size(); ++node) {
    if (labels[node] >= 0) groups[stratified ? labels[node] : 0].push_back(static_cast<int32_t>(node));
  }
  return groups;
}

// Sizes of one group that add up to `count`, each its share rounded down or up. `owed` carries from group to group
// how much each part is below its share.
Sizes share_out(int64_t count, const Shares& shares, Shares& owed) {
  Sizes sizes;
  std::array<bool, kParts + 1> whole;
  int64_t left = count;
  for (size_t part = 0; part < shares.size(); ++part) {
    const double exact = shares[part] * static_cast<double>(count);
    sizes[part] = static_cast<int64_t>(std::floor(exact + kRounding));
    const double rest = exact - static_cast<double>(sizes[part]);
    whole[part] = rest < kRounding;
    owed[part] += rest;
    left -= sizes[part];
  }
  // The rests add up to `left` and each is below 1, so that at least `left` parts have one.
  for (; left > 0; --left) {
    std::optional<size_t> next;
    for (size_t part = 0; part < shares.size(); ++part) {
      if (!whole[part] && (!next || owed[part] > owed[*next] + kRounding)) next = part;
    }
    if (!next) throw Error(ErrorKind::internal, fmt::format("{} nodes could not be shared out", left));
    ++sizes[*next];
    owed[*next] -= 1;
    whole[*next] = true;
  }
  return sizes;
}

}  // namespace

RandomSplitOptions parse_split_shares(const std::string& written) {
  std::string shown = written;  // in a message of one line
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < ' '; }, '?');
  const size_t times = written.find('x');
  constexpr int64_t kMostSplits = 1'000'000;
  const int64_t count =  // 0: said wrongly
      times == std::string::npos ? RandomSplitOptions().count
                                 : parse_int(std::string_view(written).substr(0, times)).value_or(0);
  const std::string text = times == std::string::npos ? written : written.substr(times + 1);
  std::array<double, kParts> shares{};
  bool good = count >= 1 && count <= kMostSplits && text.find_first_not_of("0123456789./") == std::string::npos &&
              std::count(text.begin(), text.end(), '/') == static_cast<int64_t>(kParts) - 1;
  size_t begin = 0;
  for (size_t part = 0; good && part < kParts; ++part) {
    const size_t end = std::min(text.find('/', begin), text.size());
    const std::optional<double> percent = parse_real(std::string_view(text).substr(begin, end - begin));
    good = percent.has_value();
    shares[part] = percent.value_or(0) / 100;
    begin = end + 1;
  }
  if (!good) {
    throw usage_error(fmt::format("splits '{}': expected percent of train/val/test, such as 60/20/20", shown));
  }
  RandomSplitOptions options{.train = shares[0], .val = shares[1], .test = shares[2]};
  options.count = count;
  naming(fmt::format("splits '{}'", shown), [&] { return checked_shares(options); });
  return options;
}

std::vector<Split> random_splits(std::span<const int32_t> labels, const RandomSplitOptions& options) {
  const Shares shares = checked_shares(options);
  if (options.count < 1) throw usage_error(fmt::format("{} random splits, expected at least 1", options.count));

  const auto groups = group_nodes(labels, options.stratified);
  std::map<int32_t, Sizes> sizes;
  Shares owed{};
  Sizes totals{};
  int64_t labelled = 0;
  for (const auto& [cls, nodes] : groups) {
    sizes[cls] = share_out(static_cast<int64_t>(nodes.size()), shares, owed);
    for (size_t part = 0; part < totals.size(); ++part) totals[part] += sizes[cls][part];
    labelled += static_cast<int64_t>(nodes.size());
  }
  for (size_t part = 0; part < kParts; ++part) {
    if (totals[part] > 0) continue;
    throw data_error(fmt::format("random splits {:g}/{:g}/{:g}: none of {} labelled ones is left for {}",
                                 100 * options.train, 100 * options.val, 100 * options.test, labelled, kNames[part]));
  }

  std::vector<Split> splits(options.count);
  for (size_t k = 0; k < splits.size(); ++k) {
    const Rng rng(Rng(options.seed, kSplitStream).bits(k));
    const std::array<std::vector<int32_t>*, kParts> parts = {&splits[k].train, &splits[k].val, &splits[k].test};
    for (const auto& [cls, nodes] : groups) {
      const std::vector<int32_t> order =
          rng.stream(static_cast<uint64_t>(cls)).permutation(static_cast<int32_t>(nodes.size()));
      auto next = order.begin();
      for (size_t part = 0; part < kParts; ++part) {
        for (int64_t i = 0; i < sizes[cls][part]; ++i) parts[part]->push_back(nodes[*next++]);
      }
    }
    for (auto* part : parts) std::sort(part->begin(), part->end());
  }
  return splits;
}

std::vector<Split> labelled_only(const std::vector<Split>& splits, std::span<const int32_t> labels) {
  check_splits(splits, static_cast<int64_t>(labels.size()));
  std::vector<Split> kept = splits;
  for (Split& split : kept) {
    for (auto* part : {&split.train, &split.val, &split.test}) {
      std::erase_if(*part, [&](int32_t id) { return labels[id] < 0; });
    }
  }
  return kept;
}

}  // namespace graphpae
