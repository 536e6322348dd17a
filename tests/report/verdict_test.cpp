#include <gtest/gtest.h>

#include "graphpae/report/run_report.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

// An evaluation whose best baseline is the untrained encoder, with that difference and interval.
Json evaluation(const std::string& metric, double own, double untrained, Json interval) {
  Json json = {{"protocol", "strict"}, {"metric", metric}, {"mean", own}, {"std", 0.01},
               {"ci95", {own, own}},   {"splits", 10},     {"seeds", 1}};
  const double poor = metric == "rmse" ? 9 : 0.1;
  json["baselines"]["raw_features"] = {{"mean", poor}};
  json["baselines"]["untrained"] = {{"mean", untrained},
                                    {"difference", {{"mean", own - untrained}, {"ci95", std::move(interval)}}}};
  json["baselines"]["majority"] = {{"mean", metric == "rmse" ? 0.0 : 1.0}};  // never a rival beside others
  return {{"evaluation", json}};
}

TEST(Verdict, BetterWorseOrUndecided) {
  const Verdict better = verdict(evaluation("accuracy", 0.6757, 0.6296, {0.032, 0.06}));
  EXPECT_EQ(
      better.text,
      "Embeddings: accuracy 67.57 %, 4.61 points better than the best of what needs no training, untrained encoder "
      "(62.96 %); 95 % interval of the difference +3.20 to +6.00.");
  EXPECT_EQ(better.standing, 1);
  const Verdict worse = verdict(evaluation("accuracy", 0.5, 0.75, {-0.3, -0.2}));
  EXPECT_EQ(
      worse.text,
      "Embeddings: accuracy 50.00 %, 25.00 points worse than untrained encoder (75.00 %), which needs no training; "
      "95 % interval of the difference -30.00 to -20.00.");
  EXPECT_EQ(worse.standing, -1);
  const Verdict even = verdict(evaluation("accuracy", 0.5, 0.49, {-0.01, 0.03}));
  EXPECT_EQ(even.text,
            "Embeddings: accuracy 50.00 %, no better and no worse than the best of what needs no training, untrained "
            "encoder (49.00 %): the 95 % interval of the difference -1.00 to +3.00 holds 0.");
  EXPECT_EQ(even.standing, 0);
  // Where small is good.
  const Verdict errors = verdict(evaluation("rmse", 0.81, 0.865, {-0.07, -0.04}));
  EXPECT_TRUE(errors.text.starts_with("Embeddings: RMSE 0.810, 0.055 better than ")) << errors.text;
  EXPECT_EQ(errors.standing, 1);
}

TEST(Verdict, OneScoreShowsNothing) {
  Json json = evaluation("rocauc", 0.8, 0.75, nullptr);
  json["evaluation"]["ci95"] = nullptr;
  const Verdict one = verdict(json);
  EXPECT_EQ(one.text,
            "Embeddings: ROC-AUC 80.00 %, 5.00 points above untrained encoder (75.00 %), the best of what needs no "
            "training; one score cannot tell whether that is chance.");
  EXPECT_EQ(one.standing, 0);
}

TEST(Verdict, BlocksAreRivalsAndWhatIsAddedToThemIsSaid) {
  Json json = evaluation("accuracy", 0.6, 0.5, {0.05, 0.15});
  json["evaluation"]["blocks"]["neighbours"] = {{"mean", 0.7},
                                                {"difference", {{"mean", -0.1}, {"ci95", {-0.12, -0.08}}}}};
  json["evaluation"]["best_block"] = "neighbours";
  json["evaluation"]["adds"] = {{"mean", 0.02}, {"ci95", {0.01, 0.03}}};
  const Verdict found = verdict(json);
  EXPECT_NE(found.text.find("10.00 points worse than neighbours (70.00 %)"), std::string::npos) << found.text;
  EXPECT_NE(found.text.find(" Beside neighbours they add +2.00 points (+1.00 to +3.00)."), std::string::npos)
      << found.text;
  EXPECT_EQ(found.standing, -1);
}

TEST(Verdict, FineTuningInflatedAndNothing) {
  EXPECT_EQ(verdict(Json::parse(R"({"metric":"rocauc","test_mean":0.8101,"protocol":"strict"})")).text,
            "The fine-tuned model on the test part: ROC-AUC 81.01 % (it chose nothing).");
  EXPECT_EQ(
      verdict(Json::parse(R"({"metric":"accuracy","test_mean":0.5,"mean":0.5,"ci95":[0.4,0.6],"per_split":[0.4,0.6],
                                    "protocol":"paper"})"))
          .text,
      "The fine-tuned model on the test part: accuracy 50.00 % (95 % interval 40.00 to 60.00, 2 splits), after the "
      "last epoch, as in the paper.");
  Json inflated = evaluation("accuracy", 0.6, 0.5, {0.05, 0.15});
  inflated["evaluation"]["inflated"] = true;
  EXPECT_EQ(verdict(inflated).standing, 0);
  EXPECT_NE(verdict(inflated).text.find("which inflates all of these"), std::string::npos);
  EXPECT_EQ(verdict(Json()).text, "");
  EXPECT_EQ(verdict(Json::parse(R"({"final_loss":0.5})")).text, "");
  // Whatever a damaged file holds.
  EXPECT_EQ(verdict(Json::parse(R"({"evaluation":[1],"test_mean":"x"})")).text, "");
  EXPECT_NO_THROW(verdict(Json::parse(R"({"evaluation":{"mean":1,"baselines":[3],"adds":7}})")));
}

}  // namespace
}  // namespace graphpae
