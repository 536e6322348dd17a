// What blocks say of the embeddings.
#include <fmt/format.h>

#include <cmath>

#include "graphpae/run/evaluation_subject.h"

namespace graphpae::run {
namespace {

double validation_of(const ProtocolScores& scores) {
  return mean_of(scores.validation).value_or(scores.summary().mean);
}

std::string score_text(const EvaluationFacts& facts, double score) {
  return facts.errors() ? fmt::format("{:.3f}", score) : fmt::format("{:.1f}", 100 * score);
}

std::string verdict_sentence(const EvaluationFacts& facts, const BlockVerdict& verdict, const std::string& title,
                             const ProtocolScores& best) {
  const Statistics& d = verdict.adds.difference;
  const bool known = std::isfinite(d.low) && std::isfinite(d.high);
  const auto number = [&](double value) {
    return facts.errors() ? fmt::format("{:+.3f}", value) : fmt::format("{:+.1f}", 100 * value);
  };
  std::string text = fmt::format("the best block is {} ({}); ", title, score_text(facts, best.summary().mean));
  const std::string where =
      fmt::format("the best combination of blocks ({})", score_text(facts, verdict.combination.summary().mean));
  const std::string size =
      known ? fmt::format("{} ({} .. {})", number(d.mean), number(d.low), number(d.high)) : number(d.mean);
  if (known && d.low > 0) return text + fmt::format("the embeddings add {} to {}.", size, where);
  if (known && d.high < 0) return text + fmt::format("the embeddings take {} from {}.", size, where);
  return text + fmt::format("the embeddings add nothing certain to {}: {}.", where, size);
}

}  // namespace

BlockVerdict judge(const EvaluationPlan& plan, const std::vector<ProbedRows>& embeddings,
                   const std::vector<ProbedBlock>& blocks) {
  const EvaluationSubject& subject = *plan.subject;
  BlockVerdict verdict;
  const ProbedBlock* best = &blocks.front();
  std::vector<const ProbedRows*> members;
  for (const ProbedBlock& block : blocks) {
    members.push_back(&block.rows);
    const double now = validation_of(block.rows.scores.front()), before = validation_of(best->rows.scores.front());
    if (plan.facts.errors() ? now < before : now > before) best = &block;
  }
  verdict.best = best->key;
  const ProbedRows without = subject.combined(members);
  verdict.combination = without.scores.front();
  PairedDifference adds;
  for (const ProbedRows& run : embeddings) {
    std::vector<const ProbedRows*> all = members;
    all.push_back(&run);
    const ProbedRows with_run = subject.combined(all);
    if (&run == &embeddings.front()) {
      verdict.together = with_run.scores.front();
      if (embeddings.size() == 1) verdict.adds = subject.difference(with_run, without);
    } else {
      verdict.together.append(with_run.scores.front());
    }
  }
  if (embeddings.size() > 1) {
    // Several runs: each beside the same combination.
    ProtocolScores repeated = verdict.combination;
    for (size_t r = 1; r < embeddings.size(); ++r) repeated.append(verdict.combination);
    verdict.adds =
        compare(plan.facts.errors() ? repeated : verdict.together, plan.facts.errors() ? verdict.together : repeated);
  }
  verdict.sentence = verdict_sentence(plan.facts, verdict, best->title, best->rows.scores.front());
  return verdict;
}

}  // namespace graphpae::run
