#include "graphpae/run/checks.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace graphpae::run {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostRows = 4096;
constexpr double kNoDeviation = 1e-5;   // of the root mean square of all values
constexpr double kFewDirections = 1.1;  // two groups of nodes, well apart, have one of their own

// [rows,D] float64, centred.
torch::Tensor centred_sample(const Features& rows) {
  const int64_t count = std::min(rows.rows(), kMostRows);
  torch::Tensor sample = torch::empty({count, rows.columns()}, torch::kFloat64);
  double* to = sample.data_ptr<double>();
  for (int64_t k = 0; k < count; ++k) rows.copy_row(k * rows.rows() / count, to + k * rows.columns());
  return sample;
}

// "86.43" in percent, "0.810" of an error.
std::string score_text(double score, bool error) {
  return error ? fmt::format("{:.3f}", score) : fmt::format("{:.1f} %", 100 * score);
}

}  // namespace

EmbeddingChecks check_embeddings(const Features& rows) {
  EmbeddingChecks checks;
  if (rows.rows() < 2 || rows.columns() == 0) return checks;
  const torch::NoGradGuard no_grad;
  torch::Tensor sample = centred_sample(rows);
  checks.rows = sample.size(0);
  checks.columns = sample.size(1);
  const double size = std::sqrt(sample.square().mean().item<double>());
  sample -= sample.mean(0, true);
  const torch::Tensor deviations = sample.square().mean(0).sqrt();
  checks.constant_columns = (deviations <= kNoDeviation * size).sum().item<int64_t>();
  if (checks.constant_columns == checks.columns) {
    checks.findings.push_back({"collapsed", "the embeddings have collapsed: all rows are the same"});
    return checks;
  }
  const bool wide = sample.size(1) > sample.size(0);
  const torch::Tensor products = wide ? torch::mm(sample, sample.t()) : torch::mm(sample.t(), sample);
  const torch::Tensor variances = torch::linalg_eigvalsh(products).clamp_min(0);
  const torch::Tensor shares = variances / variances.sum();
  checks.effective_rank = std::exp(-(shares * (shares + 1e-300).log()).sum().item<double>());
  if (10 * checks.constant_columns > checks.columns)
    checks.findings.push_back({"collapsed", fmt::format("{} of {} columns of the embeddings are the same in all rows",
                                                        checks.constant_columns, checks.columns)});
  if (checks.effective_rank < kFewDirections && checks.columns > 2 && checks.rows > 2)
    checks.findings.push_back(
        {"rank", fmt::format("the embeddings vary in hardly more than one direction (effective rank {:.1f} of {})",
                             checks.effective_rank, std::min(checks.columns, checks.rows - 1))});
  return checks;
}

void check_scores(EmbeddingChecks& checks, const EvaluationTable& table) {
  const bool errors = table.facts.errors();
  const ProtocolScores& own = table.rows.front().scores.front();
  for (const EvaluationRow& row : table.rows) {
    if (row.key != "raw_features" && row.key != "untrained") continue;
    const PairedDifference paired = compare(own, row.scores.front(), errors);
    const double difference = errors ? -paired.difference.mean : paired.difference.mean;
    if (!(difference <= 0)) continue;
    checks.findings.push_back(
        {row.key,
         fmt::format("the embeddings are no better than {} ({} against {})",
                     row.key == "untrained" ? "those of the untrained encoder" : "the raw features",
                     score_text(own.summary().mean, errors), score_text(row.scores.front().summary().mean, errors))});
  }
}

Json checks_json(const EmbeddingChecks& checks) {
  Json json = {{"rows", checks.rows},
               {"columns", checks.columns},
               {"constant_columns", checks.constant_columns},
               {"effective_rank", checks.effective_rank},
               {"findings", Json::array()}};
  for (const Finding& finding : checks.findings)
    json["findings"].push_back({{"check", finding.check}, {"text", finding.text}});
  return json;
}

}  // namespace graphpae::run
