#include "graphpae/evaluate/block_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"
#include "graphpae/evaluate/ridge_path.h"

namespace graphpae {
namespace {

constexpr double kGain = 0.25;  // of a standard error, that a step must be worth

// Judges sums of kernels by the products of a few rows.
class Judge {
 public:
  Judge(const KernelList& kernels, const LearningTask& task, const Split& split, const ChoiceOptions& options)
      : task_(task), threads_(options.threads) {
    fitted_ = draw_rows(known_rows(task, split.train), options.fitted_rows, options.seed);
    const std::vector<int32_t> judged = draw_rows(known_rows(task, split.val), options.judged_rows, options.seed + 1);
    if (fitted_.empty()) throw data_error("no labelled training rows");
    if (judged.empty()) throw data_error("no labelled validation rows");
    rows_ = fitted_;
    rows_.insert(rows_.end(), judged.begin(), judged.end());
    for (const auto& kernel : kernels) {
      products_.push_back(kernel->between(rows_, fitted_, threads_));
      lengths_.push_back(kernel->with_itself(rows_));
    }
    make_folds(options);
  }

  struct Verdict {
    double score = -1e300;
    int64_t penalty = 0;
  };

  // The best penalty of first .. last-1.
  Verdict operator()(const KernelSum& sum, int64_t first = 0, int64_t last = kRidgePenalties) const {
    Buffer<float> k(rows_.size() * fitted_.size());
    std::fill(k.begin(), k.end(), 0.0f);
    std::vector<double> lengths(rows_.size(), 0);
    for (const KernelSum::Part& part : sum.parts) {
      const auto weight = static_cast<float>(part.weight);
      const Buffer<float>& products = products_[part.kernel];
      for (size_t i = 0; i < k.size(); ++i) k[i] += weight * products[i];
      for (size_t i = 0; i < lengths.size(); ++i) lengths[i] += part.weight * lengths_[part.kernel][i];
    }
    if (sum.bent) bend(k, lengths, {lengths.data(), fitted_.size()}, sum.total());
    std::vector<double> penalties, scores(static_cast<size_t>(last - first), 0);
    for (int64_t c = first; c < last; ++c) penalties.push_back(ridge_penalty(c));
    double used = 0;
    for (const Fold& fold : folds_) {
      const auto found = fold_scores(k, fold, penalties);
      if (!found) continue;
      for (size_t c = 0; c < scores.size(); ++c) scores[c] += (*found)[c];
      ++used;
    }
    if (used == 0) throw data_error("validation rows cannot be scored: they are of one class");
    Verdict verdict;
    for (int64_t c = first; c < last; ++c) {  // ties go to the stronger penalty
      const double score = scores[c - first] / used;
      if (score > verdict.score) verdict = {score, c};
    }
    return verdict;
  }

  int64_t judged() const {
    int64_t count = 0;
    for (const Fold& fold : folds_) count += std::ssize(fold.judged);
    return count;
  }

 private:
  struct Fold {
    std::vector<int32_t> fitted, judged;  // places in rows_; fitted ones are below fitted_.size()
  };

  void make_folds(const ChoiceOptions& options) {
    const auto n = static_cast<int32_t>(fitted_.size());
    Fold own;
    for (int32_t i = 0; i < n; ++i) own.fitted.push_back(i);
    for (int32_t i = n; i < static_cast<int32_t>(rows_.size()); ++i) own.judged.push_back(i);
    const bool enough = std::ssize(own.judged) >= options.enough_validation;
    folds_.push_back(std::move(own));
    if (enough || n < 5 * options.folds) return;
    const std::vector<int32_t> order = Rng(options.seed, 3).permutation(n);
    for (int64_t f = 0; f < options.folds; ++f) {
      Fold fold;
      std::vector<bool> held(static_cast<size_t>(n), false);
      for (int64_t i = f; i < n; i += options.folds) held[order[i]] = true;
      for (int32_t i = 0; i < n; ++i) (held[i] ? fold.judged : fold.fitted).push_back(i);
      folds_.push_back(std::move(fold));
    }
  }

  std::optional<std::vector<double>> fold_scores(const Buffer<float>& k, const Fold& fold,
                                                 std::span<const double> penalties) const {
    const auto chosen = [&](const std::vector<int32_t>& places) {
      Buffer<float> some(places.size() * fold.fitted.size());
      for (size_t i = 0; i < places.size(); ++i) {
        for (size_t j = 0; j < fold.fitted.size(); ++j)
          some[i * fold.fitted.size() + j] = k[places[i] * fitted_.size() + fold.fitted[j]];
      }
      return some;
    };
    const auto ids = [&](const std::vector<int32_t>& places) {
      std::vector<int32_t> found;
      for (const int32_t place : places) found.push_back(rows_[place]);
      return found;
    };
    const std::vector<int32_t> judged = ids(fold.judged);
    const RidgePath ridges(chosen(fold.fitted), ids(fold.fitted), task_, penalties, threads_, /*fill=*/true);
    const auto path = ridges.predict(chosen(fold.judged), std::ssize(judged));
    std::vector<double> scores;
    for (const auto& predictions : path) {
      const std::optional<double> score = task_.score(judged, predictions);
      if (!score) return std::nullopt;
      scores.push_back(*score);
    }
    return scores;
  }

  const LearningTask& task_;
  Threads threads_;
  std::vector<int32_t> fitted_, rows_;        // ids; fitted ones first
  std::vector<Buffer<float>> products_;       // [kernels] of [rows,fitted]
  std::vector<std::vector<double>> lengths_;  // [kernels] of [rows]
  std::vector<Fold> folds_;
};

std::string described(const Kernel& kernel, double weight) {
  return fmt::format("{} ({}) x {:.3g}", kernel.block(), name_of(kernel.form()), weight);
}

}  // namespace

double ridge_penalty(int64_t candidate) {
  return kStrongestPenalty * std::pow(10.0, -0.5 * static_cast<double>(candidate));
}

std::vector<int32_t> draw_rows(std::span<const int32_t> ids, int64_t most, uint64_t seed) {
  std::vector<int32_t> drawn(ids.begin(), ids.end());
  if (std::ssize(ids) <= most) return drawn;
  std::vector<int32_t> places = Rng(seed, 7).permutation(static_cast<int32_t>(ids.size()));
  places.resize(static_cast<size_t>(most));
  std::sort(places.begin(), places.end());
  drawn.clear();
  for (const int32_t place : places) drawn.push_back(ids[place]);
  return drawn;
}

std::vector<int32_t> known_rows(const LearningTask& task, std::span<const int32_t> ids) {
  std::vector<int32_t> known;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(known), [&](int32_t id) { return task.is_known(id); });
  return known;
}

BlockChoice choose_blocks(const KernelList& kernels, const LearningTask& task, const Split& split,
                          const ChoiceOptions& options) {
  if (kernels.empty()) throw data_error("no blocks to choose among");
  const Judge judge(kernels, task, split, options);
  BlockChoice choice;
  choice.judged = judge.judged();
  int64_t best = 0;
  for (int64_t p = 0; p < std::ssize(kernels); ++p) {
    const Judge::Verdict verdict = judge({{{p, 1.0}}, false});
    choice.singles.push_back({verdict.score, verdict.penalty});
    if (verdict.score > choice.singles[best].score) best = p;
  }
  choice.sum.add(best, 1);
  choice.score = choice.singles[best].score;
  choice.penalty = choice.singles[best].penalty;
  choice.steps.push_back({described(*kernels[best], 1), choice.score});

  // Of each block the kernel that is best alone, and what the search began with.
  std::vector<int64_t> candidates;
  for (int64_t p = 0; p < std::ssize(kernels); ++p) {
    bool first = true;
    for (int64_t q = 0; q < std::ssize(kernels); ++q) {
      const double score = choice.singles[q].score;
      if (q == p || kernels[q]->block() != kernels[p]->block()) continue;
      first = first && (score < choice.singles[p].score || (score == choice.singles[p].score && p < q));
    }
    if (first) candidates.push_back(p);
  }

  const auto worth = [&] { return kGain * task.standard_error(choice.score, choice.judged); };
  // Penalties near the present one, for the score of a whole is seldom best far from those of its parts.
  const auto nearby = [&](const KernelSum& sum) {
    return judge(sum, std::max<int64_t>(0, choice.penalty - 1), std::min(kRidgePenalties, choice.penalty + 2));
  };
  while (std::ssize(choice.sum.parts) < options.most_parts) {
    KernelSum next;
    Judge::Verdict found;
    std::string what;
    for (const int64_t p : candidates) {
      for (const double share : {1.0, 0.3}) {
        KernelSum sum = choice.sum;
        const double weight = share * sum.total();
        sum.add(p, weight);
        const Judge::Verdict verdict = nearby(sum);
        if (verdict.score <= found.score) continue;
        next = sum;
        found = verdict;
        what = described(*kernels[p], weight);
      }
    }
    if (!(found.score > choice.score + worth())) break;
    choice.sum = next;
    choice.score = found.score;
    choice.penalty = found.penalty;
    choice.steps.push_back({what, choice.score});
  }
  KernelSum bent = choice.sum;
  bent.bent = true;
  const Judge::Verdict verdict = judge(bent);
  if (verdict.score > choice.score) {
    choice.sum = bent;
    choice.score = verdict.score;
    choice.penalty = verdict.penalty;
    choice.steps.push_back({"Gaussian over the sum", choice.score});
  }
  return choice;
}

}  // namespace graphpae
