#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graphpae/reproduce/record.h"

namespace graphpae {
namespace {

TEST(JobResult, TrainingSaysWhatItTook) {
  const auto result = job_result_of_verb(
      R"({"epochs": 3, "seconds": 1.5, "seconds_per_epoch": 0.4, "peak_rss_bytes": 1000, "final_loss": 0.1})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->training_seconds, 1.5);
  EXPECT_EQ(result->seconds_per_epoch, 0.4);
  EXPECT_EQ(result->peak_rss_bytes, 1000);
  EXPECT_TRUE(result->protocols.empty());
  EXPECT_EQ(job_result_of_verb(R"({"seconds": 2.0, "seconds_per_epoch": 0.1})")->peak_rss_bytes, 0);  // a dry run
}

TEST(JobResult, EvaluationHasBothProtocols) {
  const auto result = job_result_of_verb(R"({"protocol": "strict", "metric": "accuracy", "val": 0.75,
      "per_split_and_seed": [[0.5, 0.25], [1.0, 0.75]], "baselines": {"untrained": {"mean": 0.5, "std": 0.125}},
      "paper": {"protocol": "paper", "per_split_and_seed": [[0.625]], "val": null}})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->metric, "accuracy");
  const ProtocolRecord& strict = result->protocols.at("strict");
  EXPECT_EQ(strict.scores, (std::vector<std::vector<double>>{{0.5, 0.25}, {1.0, 0.75}}));
  EXPECT_EQ(strict.validation, 0.75);
  EXPECT_EQ(strict.baselines.at("untrained").deviation, 0.125);
  EXPECT_EQ(result->protocols.at("paper").scores[0][0], 0.625);
  EXPECT_FALSE(result->protocols.at("paper").validation);
}

TEST(JobResult, MetricOfFinetuningIsTheMeanOverTasks) {
  const std::string printed = R"({"seconds": 1, "seconds_per_epoch": 0.5, "peak_rss_bytes": 8, "protocol": "strict",
      "metric": "rmse", "validation": 0.5, "test_mean": 9.0,
      "tasks": [{"name": "a", "mae": 1.0, "rmse": 4.0}, {"name": "b", "mae": 2.0}, {"name": "c", "mae": null}]})";
  const auto mae = job_result_of_verb(printed, "mae"), own = job_result_of_verb(printed);
  ASSERT_TRUE(mae && own);
  EXPECT_EQ(mae->metric, "mae");
  EXPECT_EQ(mae->protocols.at("strict").scores[0][0], 1.5);
  EXPECT_EQ(mae->protocols.at("strict").targets, (std::map<std::string, double>{{"a", 1.0}, {"b", 2.0}}));
  EXPECT_EQ(own->metric, "rmse");
  EXPECT_EQ(own->protocols.at("strict").scores[0][0], 4.0);
  EXPECT_EQ(own->protocols.at("strict").validation, 0.5);
}

TEST(JobResult, WhatIsNoResultIsNone) {
  for (const char* text : {"", "no", "[]", "{}", R"({"seconds": 1})", R"({"per_split_and_seed": [[1]]})"})
    EXPECT_FALSE(job_result_of_verb(text)) << text;
  EXPECT_EQ(printed_data_hash(R"({"data_hash": "abc"})"), "abc");
  EXPECT_EQ(printed_data_hash("no"), "");
}

TEST(JobResult, RecordsKeepIt) {
  const ProtocolRecord protocol = {{{1.5, 2.5}}, {{"gap", 0.25}}, 0.75, {{"raw_features", {3, 0.5}}}};
  const nlohmann::ordered_json json = protocol;
  const auto again = json.get<ProtocolRecord>();
  EXPECT_EQ(again.targets.at("gap"), 0.25);
  EXPECT_EQ(again.validation, 0.75);
  EXPECT_EQ(nlohmann::ordered_json(again).dump(), json.dump());
}

}  // namespace
}  // namespace graphpae
