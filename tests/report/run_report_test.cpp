#include "graphpae/report/run_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr const char* kScores = R"({"mean":0.8,"std":0.02,"ci95":[0.79,0.81]})";

// A run of three epochs with an evaluation of two classes.
void make_run(const test::TempDir& dir, const std::string& name, const std::string& width = "8") {
  dir.write(name + "/config.yaml", "epochs: 3\nwidth: " + width + "\nfanout: \"\"\n");
  dir.write(name + "/environment.json",
            R"({"version":"0.1.0","command":"graphpae pretrain 'my data' -o run","data":"my data","threads":2})");
  dir.write(name + "/metrics.jsonl",
            "{\"epoch\":1,\"loss\":0.5,\"loss_feature\":0.4,\"loss_position\":1e-3,\"lr\":0.1,\"seconds\":1}\n"
            "{\"epoch\":2,\"loss\":0.4,\"loss_feature\":0.3,\"loss_position\":1e-4,\"lr\":0.05,\"seconds\":1}\n"
            "{\"epoch\":3,\"loss\":0.3,\"loss_feature\":0.2,\"loss_position\":1e-5,\"lr\":0.01,\"seconds\":1}\n");
  const std::string scores = std::string(kScores).substr(1, std::string(kScores).size() - 2);
  dir.write(
      name + "/results.json",
      R"({"epochs":3,"final_loss":0.3,"seconds":3,"evaluation":{"protocol":"strict","metric":"accuracy",)" + scores +
          R"(,"splits":10,"seeds":1,"split_source":"from the data","baselines":{"untrained":)" + kScores +
          R"(},"classes":[{"class":"cat"},{"class":"dog"}],"confusion":[[90,10],[25,75]],)" +
          R"("paper":{"protocol":"paper","metric":"accuracy","inflated":true,"mean":0.95,"std":0.01,"ci95":null}}})");
}

TEST(RunReport, ShowsWhatTheRunHolds) {
  const test::TempDir dir;
  make_run(dir, "run");
  const std::string html = run_report(dir / "run");
  EXPECT_TRUE(holds(html, "<h1>run</h1>"));
  EXPECT_TRUE(holds(
      html,
      "<td>strict</td><td>embeddings</td><td>accuracy in %</td><td>80.00</td><td>2.00</td><td>79.00 .. 81.00</td>"));
  EXPECT_TRUE(holds(html, "<td>strict</td><td>untrained encoder</td>"));
  EXPECT_TRUE(holds(
      html, "<td>paper (INFLATED)</td><td>embeddings</td><td>accuracy in %</td><td>95.00</td><td>1.00</td><td></td>"));
  EXPECT_TRUE(holds(html, "is the honest number"));
  EXPECT_TRUE(holds(html, "25.0 %<small>25</small>"));
  EXPECT_TRUE(holds(html, "\"label\":\"feature\",\"data\":[0.4,0.3,0.2]"));
  EXPECT_TRUE(holds(html, "\"data\":[0.001,0.0001,1e-05]"));
  EXPECT_TRUE(holds(html, "Loss term: position"));
  EXPECT_TRUE(holds(html, "Pre-trained without labels by graphpae on"));
  EXPECT_TRUE(holds(html, "graphpae pretrain &#39;my data&#39; -o run") ||
              holds(html, "graphpae pretrain 'my data' -o run"));
  EXPECT_TRUE(holds(html, "<td>width</td><td>8</td>"));
  EXPECT_FALSE(holds(html, "not finished"));
  EXPECT_TRUE(holds(html, "There is no map yet"));
}

TEST(RunReport, SaysWhatTheDataAreAndHowToRepeat) {
  const test::TempDir dir;
  make_run(dir, "run");
  dir.write(
      "run/environment.json",
      R"({"version":"0.1.0","command":"graphpae pretrain 'my data' -o run","directory":"/somewhere/else","processes":2,
                "again":["pretrain","my data","--labels","l.csv"],"data":"my data",
                "data_facts":{"nodes":2277,"mean_degree":27.55,"components":1,"edge_homophily":0.2339,
                "tasks":[{"name":"toxic","binary":true,"missing":3,"positives":1200,"negatives":5}]}})");
  const std::string html = run_report(dir / "run");
  EXPECT_TRUE(holds(html, "<td>nodes</td><td>2,277</td>"));
  EXPECT_TRUE(holds(html, "<td>edge homophily</td><td>0.2339</td>"));
  EXPECT_TRUE(holds(html, "Target toxic: 1,200 positive, 5 negative, 3 missing."));
  EXPECT_TRUE(holds(html, "in the directory /somewhere/else:"));
  EXPECT_TRUE(holds(html, "graphpae launch -n 2 -- pretrain 'my data' --labels l.csv --config " + (dir / "run") +
                              "/config.yaml -o AGAIN</pre>"));
  EXPECT_FALSE(holds(html, "<td>data_facts</td>"));
  // The sentence that says it all is the first.
  const size_t verdict = html.find("<p class=\"verdict\">Embeddings: accuracy 80.00 %");
  EXPECT_LT(verdict, html.find("Pre-trained without labels"));
  EXPECT_TRUE(holds(html, "\"kind\":\"scores\",\"title\":\"accuracy in %, protocol strict\""));
  EXPECT_TRUE(holds(html, "\"points\":[\"embeddings\",\"untrained encoder\"]"));
}

TEST(RunReport, OneScoreHasNoDeviation) {
  const test::TempDir dir;
  make_run(dir, "run");
  dir.write("run/results.json",
            R"({"final_loss":0.3,"evaluation":{"protocol":"strict","metric":"rocauc","mean":0.8,"std":0.0,
    "ci95":null,"splits":1,"seeds":1,"baselines":{"raw_features":{"mean":0.7,"std":0.0,"ci95":[0.6,0.75]}}}})");
  const std::string html = run_report(dir / "run");
  EXPECT_TRUE(holds(html, "<td>80.00</td><td>one score</td><td></td>"));
  EXPECT_TRUE(holds(html, "<td>70.00</td><td>one score</td><td>60.00 .. 75.00</td>"));
  EXPECT_TRUE(holds(comparison_report({dir / "run", dir / "run"}), "<td>80.00 (one score)</td>"));
  // Ten equal scores have a deviation, of 0.
  dir.write("run/results.json",
            R"({"final_loss":0.3,"evaluation":{"protocol":"strict","metric":"accuracy","mean":0.8,"std":0.1,
    "ci95":[0.7,0.9],"splits":10,"seeds":1,"baselines":{"majority":{"mean":0.2,"std":0.0,"ci95":[0.2,0.2]}}}})");
  EXPECT_TRUE(
      holds(run_report(dir / "run"), "<td>majority class</td><td>accuracy in %</td><td>20.00</td><td>0.00</td>"));
}

TEST(RunReport, ShowsPredictionsOfBinaryTargets) {
  const test::TempDir dir;
  make_run(dir, "run");
  dir.write("run/test_predictions.csv",
            "row,target,label,prediction\n1,a,1,0.9\n2,a,0,0.25\n4,a,1,0.5\n1,\"b, c\",0,0.5\n2,\"b, c\",1,0.5\n"
            "1,only,1,0.5\n1,number,7,3\n2,number,1,0.5\n3,number,0,0.5\n");
  const std::string html = run_report(dir / "run");
  EXPECT_TRUE(holds(html, "<h2>Predictions on the test part</h2>"));
  EXPECT_TRUE(holds(html, "<td>a</td><td>3</td><td>2</td><td>1.0000</td><td>0.1075</td>"));
  EXPECT_TRUE(holds(html, "<td>b, c</td><td>2</td><td>1</td><td>0.5000</td><td>0.2500</td>"));
  EXPECT_FALSE(holds(html, "<td>only</td>"));
  EXPECT_FALSE(holds(html, "<td>number</td>"));
  EXPECT_TRUE(holds(html, "\"title\":\"Precision and recall\""));
  std::filesystem::remove(dir / "run/test_predictions.csv");
  EXPECT_FALSE(holds(run_report(dir / "run"), "Predictions on the test part"));
}

TEST(RunReport, AnyMethodShowsItsTerms) {
  const test::TempDir dir;
  make_run(dir, "run");
  dir.write("run/config.yaml", "method: other\nepochs: 2\n");
  dir.write("run/metrics.jsonl",
            "{\"epoch\":1,\"loss_near\":0.75,\"loss\":1,\"loss_far_away\":0.125,\"lr\":0.1}\n"
            "{\"epoch\":2,\"loss_near\":0.5,\"loss\":0.5,\"loss_far_away\":0.0625,\"lr\":0.1}\n");
  const std::string html = run_report(dir / "run");
  EXPECT_TRUE(holds(html, "Pre-trained without labels by other on"));
  const size_t total = html.find("\"label\":\"loss\",\"data\":[1,0.5]");
  EXPECT_LT(total, html.find("\"label\":\"near\",\"data\":[0.75,0.5]"));
  EXPECT_TRUE(holds(html, "Loss term: far away"));
  EXPECT_TRUE(holds(html, "\"data\":[0.125,0.0625]"));
  EXPECT_FALSE(holds(html, "Loss term: near"));
}

TEST(RunReport, AnInterruptedRunIsShownAsFarAsItWent) {
  const test::TempDir dir;
  make_run(dir, "run");
  std::filesystem::remove(dir / "run/results.json");
  dir.write("run/metrics.jsonl", "{\"epoch\":1,\"loss\":0.5}\n{\"epoch\":2,\"lo");
  const std::string html = run_report(dir / "run");
  EXPECT_TRUE(holds(html, "This run is not finished"));
  EXPECT_TRUE(holds(html, "1 of 3 epochs are done"));
  EXPECT_TRUE(holds(html, "\"data\":[0.5]"));
  EXPECT_TRUE(holds(html, "Not evaluated."));
  // Killed before the first epoch, with files half there.
  std::filesystem::remove(dir / "run/metrics.jsonl");
  dir.write("run/results.json", "{\"epochs\":");
  const std::string nothing = run_report(dir / "run");
  EXPECT_TRUE(holds(nothing, "No epoch is finished."));
  EXPECT_TRUE(holds(nothing, "results.json cannot be read"));
}

TEST(RunReport, RefusesWhatIsNoRunAndNewerRuns) {
  const test::TempDir dir;
  EXPECT_DATA_ERROR(run_report(dir / "none"), "none: does not exist; expected a run directory");
  EXPECT_DATA_ERROR(run_report(dir.path()), "no run directory, it has no config.yaml");
  make_run(dir, "run");
  dir.write("run/environment.json", R"({"version":"99.1.0"})");
  EXPECT_DATA_ERROR(run_report(dir / "run"), "was made by graphpae 99.1.0, this is version 0.");
  EXPECT_TRUE(is_newer("0.2.0", "0.1.9"));
  EXPECT_FALSE(is_newer("0.1.9", "0.1.0"));
  EXPECT_FALSE(is_newer("0.9.0", "1.0.0"));
  make_run(dir, "bad");
  dir.write("bad/config.yaml", "epochs: [\n");
  EXPECT_DATA_ERROR(run_report(dir / "bad"), "bad/config.yaml:");
}

TEST(RunReport, PartsOfFineTuning) {
  const test::TempDir dir;
  make_run(dir, "run");
  dir.write("run/environment.json", R"({"version":"0.1.0","pretrained":"none","data":"d"})");
  dir.write("run/results.json", R"({"epochs":2,"final_loss":0.1,"protocol":"strict","metric":"accuracy","test_mean":0.5,
    "validation":0.6,"per_split":[0.4,0.6],"mean":0.5,"std":0.1,"ci95":[0.4,0.6],"parts":["splits/0","splits/10"]})");
  for (const char* split : {"0", "2", "10"})
    dir.write(std::string("run/splits/") + split + "/metrics.jsonl",
              "{\"epoch\":1,\"loss\":0.5,\"validation\":0.25}\n");
  const RunRecord record = read_run(dir / "run");
  ASSERT_EQ(record.parts.size(), 3u);
  EXPECT_EQ(record.parts[2].name, "split 10");
  const std::string html = run_report(dir / "run");
  EXPECT_TRUE(holds(html, "Fine-tuned on d"));
  EXPECT_TRUE(holds(html, "\"label\":\"split 10\",\"data\":[0.5]"));
  EXPECT_TRUE(holds(html, "Score on the validation part"));
  EXPECT_TRUE(holds(html, "<td>test part</td><td>accuracy in %</td><td>50.00</td>"));
  EXPECT_TRUE(holds(html, "graphpae finetune none d --config"));
}

TEST(RunReport, LongRunsAreThinned) {
  const test::TempDir dir;
  make_run(dir, "run");
  std::string lines;
  for (int epoch = 1; epoch <= 10'000; ++epoch) lines += fmt::format("{{\"epoch\":{},\"loss\":0.123456789}}\n", epoch);
  dir.write("run/metrics.jsonl", lines);
  const std::string html = run_report(dir / "run");
  EXPECT_TRUE(holds(html, "every 25th is shown"));
  EXPECT_TRUE(holds(html, "\"10000\""));
  EXPECT_LT(html.size(), 600'000u);
}

TEST(ComparisonReport, PutsRunsSideBySide) {
  const test::TempDir dir;
  make_run(dir, "a/run", "8");
  make_run(dir, "b/run", "16");
  dir.write("c/config.yaml", "epochs: 3\nwidth: 8\n");
  const std::string html = comparison_report({dir / "a/run", dir / "b/run", dir / "c"});
  const std::string a = dir / "a/run", b = dir / "b/run";
  // The same last part: told apart by the whole path.
  EXPECT_TRUE(holds(html, "<th scope=\"col\">" + a + "</th><th scope=\"col\">" + b + "</th><th scope=\"col\">c</th>"));
  EXPECT_TRUE(holds(html, "<td>width</td><td>8</td><td>16</td><td>8</td>"));
  EXPECT_TRUE(holds(html, "<td>fanout</td><td></td><td></td><td>(none)</td>"));
  EXPECT_TRUE(
      holds(html, "<td>80.00 \u00b1 2.00 (79.00 .. 81.00)</td><td>80.00 \u00b1 2.00 (79.00 .. 81.00)</td><td></td>"));
  EXPECT_TRUE(holds(html, "c: This run is not finished"));
  EXPECT_TRUE(holds(html, "\"label\":\"" + b + "\",\"data\":[0.5,0.4,0.3]"));
  EXPECT_TRUE(holds(html, "1 settings that are the same"));
}

}  // namespace
}  // namespace graphpae
