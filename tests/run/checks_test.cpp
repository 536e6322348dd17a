#include "graphpae/run/checks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graphpae/core/rng.h"

namespace graphpae::run {
namespace {

Features rows_of_rank(int64_t rows, int64_t columns, int64_t rank) {
  const Rng rng(4);
  uint64_t draw = 0;
  std::vector<double> basis(static_cast<size_t>(rank * columns));
  for (double& value : basis) value = rng.normal(draw++);
  Buffer<float> values(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t c = 0; c < columns; ++c) values[i * columns + c] = 1;
    for (int64_t r = 0; r < rank; ++r) {
      const double weight = rng.normal(draw++);
      for (int64_t c = 0; c < columns; ++c)
        values[i * columns + c] += static_cast<float>(weight * basis[r * columns + c]);
    }
  }
  return Features::dense(rows, columns, std::move(values));
}

TEST(Checks, EffectiveRankIsThatOfTheVariance) {
  const EmbeddingChecks full = check_embeddings(rows_of_rank(2000, 20, 20));
  EXPECT_GT(full.effective_rank, 10);
  EXPECT_LE(full.effective_rank, 20.001);
  EXPECT_TRUE(full.findings.empty());
  const EmbeddingChecks one = check_embeddings(rows_of_rank(200, 20, 1));
  EXPECT_NEAR(one.effective_rank, 1, 1e-3);
  ASSERT_EQ(one.findings.size(), 1u);
  EXPECT_EQ(one.findings[0].check, "rank");
  EXPECT_NE(one.findings[0].text.find("hardly more than one direction (effective rank 1.0 of 20)"), std::string::npos);
  EXPECT_GT(check_embeddings(rows_of_rank(10, 50, 9)).effective_rank, 4);  // fewer rows than columns
  EXPECT_EQ(check_embeddings(rows_of_rank(9000, 3, 3)).rows, 4096);
}

TEST(Checks, CollapsedColumnsAreCounted) {
  Buffer<float> values(Buffer<float>(8 * 300, 0.5f));
  const Rng rng(1);
  for (int64_t i = 0; i < 300; ++i) {
    for (int64_t c = 0; c < 6; ++c)
      values[i * 8 + c] = static_cast<float>(rng.normal(static_cast<uint64_t>(i * 8 + c)));
  }
  const EmbeddingChecks some = check_embeddings(Features::dense(300, 8, values));
  EXPECT_EQ(some.constant_columns, 2);
  ASSERT_EQ(some.findings.size(), 1u);
  EXPECT_EQ(some.findings[0].text, "2 of 8 columns of the embeddings are the same in all rows");
  const EmbeddingChecks all = check_embeddings(Features::dense(300, 8, Buffer<float>(8 * 300, 2.0f)));
  ASSERT_EQ(all.findings.size(), 1u);
  EXPECT_EQ(all.findings[0].text, "the embeddings have collapsed: all rows are the same");
  EXPECT_EQ(checks_json(all)["findings"][0]["check"], "collapsed");
  EXPECT_EQ(check_embeddings(Features::dense(1, 3, Buffer<float>(3, 1.0f))).rows, 0);
}

EvaluationTable table_of(const std::string& metric, double own, double raw, double untrained) {
  EvaluationTable table;
  table.facts.metric = metric;
  table.facts.protocols = {Protocol::strict};
  for (const auto& [key, score] : {std::pair{"embeddings", own}, {"untrained", untrained}, {"raw_features", raw}}) {
    ProtocolScores scores;
    scores.splits = 1;
    scores.seeds = 2;
    scores.test = {score, score};
    table.rows.push_back({key, key, {scores}});
  }
  return table;
}

TEST(Checks, ScoresAreComparedWithWhatTheyMustBeat) {
  EmbeddingChecks checks;
  check_scores(checks, table_of("accuracy", 0.568, 0.958, 0.5));
  ASSERT_EQ(checks.findings.size(), 1u);
  EXPECT_EQ(checks.findings[0].text, "the embeddings are no better than the raw features (56.8 % against 95.8 %)");
  EmbeddingChecks good, errors;
  check_scores(good, table_of("accuracy", 0.9, 0.8, 0.7));
  EXPECT_TRUE(good.findings.empty());
  check_scores(errors, table_of("rmse", 1.2, 1.5, 1.1));  // smaller is better
  ASSERT_EQ(errors.findings.size(), 1u);
  EXPECT_EQ(errors.findings[0].text,
            "the embeddings are no better than those of the untrained encoder (1.200 against 1.100)");
}

}  // namespace
}  // namespace graphpae::run
